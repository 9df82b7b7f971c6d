#include "isobar/hdf5/hdf5_types.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <hdf5.h>

namespace isobar::hdf5 {
namespace {

bool is_ieee(hid_t type, std::size_t bytes) {
  if (bytes == 4) return H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0;
  if (bytes == 8) return H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0;
  if (bytes != 2) return false;
  std::size_t sign, exponent, exponent_bits, mantissa, mantissa_bits;
  return H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 && sign == 15 &&
         exponent == 10 && exponent_bits == 5 && mantissa == 0 && mantissa_bits == 10 && H5Tget_ebias(type) == 15 &&
         H5Tget_norm(type) == H5T_NORM_IMPLIED;
}

// Whether the bits of a number lie within its bytes: if not, the library's conversion goes beyond its own memory.
bool fits_its_bytes(hid_t type, H5T_class_t kind, std::size_t bytes) {
  const std::size_t bits = 8 * bytes, precision = H5Tget_precision(type);
  const int offset = H5Tget_offset(type);
  if (precision == 0 || precision > bits || offset < 0 || static_cast<std::size_t>(offset) > bits - precision)
    return false;
  if (kind != H5T_FLOAT) return true;
  std::size_t sign, exponent, exponent_bits, mantissa, mantissa_bits;
  const auto inside = [&](std::size_t first, std::size_t count) { return first < bits && count <= bits - first; };
  return H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 && inside(sign, 1) &&
         exponent_bits > 0 && inside(exponent, exponent_bits) && mantissa_bits > 0 && inside(mantissa, mantissa_bits);
}

std::string compound_name(hid_t type) {
  constexpr int most = 8;
  const int members = H5Tget_nmembers(type);
  std::string names;
  for (int i = 0; i < std::min(members, most); ++i) {
    char* const name = H5Tget_member_name(type, i);
    names += fmt::format("{}{}", i > 0 ? ", " : "", name ? name : "?");
    H5free_memory(name);
  }
  return fmt::format("compound of {}{}", names, members > most ? ", ..." : "");
}

}  // namespace

Hdf5Number hdf5_number(Hdf5Id type) {
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_ENUM) {
    const Hdf5Handle base(H5Tget_super(type), H5Tclose);
    return base.id >= 0 ? hdf5_number(base.id) : Hdf5Number{};
  }
  const std::size_t bytes = H5Tget_size(type);
  const H5T_order_t order = H5Tget_order(type);
  if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || bytes == 0 || bytes > 32 || !fits_its_bytes(type, kind, bytes))
    return {{.bytes = 0}, false};
  Hdf5Number number;
  number.stored.kind = kind == H5T_INTEGER ? files::Stored::Kind::whole : files::Stored::Kind::real;
  number.stored.bytes = bytes;
  number.stored.is_signed = kind == H5T_FLOAT || H5Tget_sign(type) == H5T_SGN_2;
  number.stored.big_endian = order == H5T_ORDER_BE && bytes > 1;
  const bool whole_width = H5Tget_precision(type) == 8 * bytes && H5Tget_offset(type) == 0;
  const bool known_order = order == H5T_ORDER_LE || order == H5T_ORDER_BE || bytes == 1;
  number.plain = whole_width && known_order && (kind == H5T_INTEGER || is_ieee(type, bytes));
  return number;
}

std::string hdf5_type_name(Hdf5Id type) {
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_ENUM) return "enumeration as " + hdf5_number(type).stored.str();
  if (const Hdf5Number number = hdf5_number(type); number.stored.kind != files::Stored::Kind::other)
    return number.plain ? number.stored.str()
                        : fmt::format("{} of {} bits", number.stored.str(), H5Tget_precision(type));
  switch (kind) {
    case H5T_INTEGER:
    case H5T_FLOAT: return "damaged numbers";
    case H5T_STRING: return "text";
    case H5T_COMPOUND: return compound_name(type);
    case H5T_BITFIELD: return fmt::format("bits in {} bytes", H5Tget_size(type));
    case H5T_OPAQUE: return fmt::format("{} bytes without meaning", H5Tget_size(type));
    case H5T_REFERENCE: return "reference";
    case H5T_VLEN:
    case H5T_ARRAY: {
      const Hdf5Handle base(H5Tget_super(type), H5Tclose);
      const std::string of = base.id >= 0 ? hdf5_type_name(base.id) : "?";
      return (kind == H5T_VLEN ? "lists of " : "arrays of ") + of;
    }
    default: return "unknown";
  }
}

}  // namespace isobar::hdf5
