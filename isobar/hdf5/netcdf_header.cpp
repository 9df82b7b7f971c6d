#include "isobar/hdf5/netcdf_header.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::hdf5 {

const NetcdfAttribute* NetcdfVariable::attribute(std::string_view key) const {
  const auto found = std::ranges::find(attributes, key, &NetcdfAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::string NetcdfVariable::text(std::string_view key) const {
  const NetcdfAttribute* found = attribute(key);
  return found ? found->text : "";
}

std::optional<double> default_fill(const files::Stored& stored) {
  if (stored.kind == files::Stored::Kind::real && stored.bytes == 4) return 9.9692099683868690e+36f;
  if (stored.kind == files::Stored::Kind::real && stored.bytes == 8) return 9.9692099683868690e+36;
  if (stored.kind != files::Stored::Kind::whole) return std::nullopt;
  switch (stored.bytes) {
    case 2: return stored.is_signed ? -32767.0 : 65535.0;
    case 4: return stored.is_signed ? -2147483647.0 : 4294967295.0;
    case 8: return stored.is_signed ? -9223372036854775806.0 : 18446744073709551614.0;
    default: return std::nullopt;
  }
}

std::int64_t checked_count(std::span<const std::int64_t> sizes, std::int64_t most, std::string_view subject) {
  std::int64_t count = 1;
  if (std::ranges::find(sizes, 0) != sizes.end()) return 0;
  for (const std::int64_t size : sizes)
    if (__builtin_mul_overflow(count, size, &count) || count > most)
      fail("{}: claims more than {} numbers, which the file cannot hold", subject, most);
  return count;
}

}  // namespace isobar::hdf5
