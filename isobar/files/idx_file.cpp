#include "isobar/files/idx_file.hpp"

#include <algorithm>
#include <bit>

#include "isobar/base/error.hpp"

namespace isobar::files {
namespace {

constexpr int max_rank = 8;
constexpr std::size_t prefix = 4;  // zeros, type, rank

std::size_t idx_width_of(int type) {
  switch (type) {
    case 0x08:
    case 0x09: return 1;
    case 0x0B: return 2;
    case 0x0C:
    case 0x0D: return 4;
    case 0x0E: return 8;
    default: return 0;
  }
}

constexpr std::pair<NumberType, std::uint8_t> codes[] = {{NumberType::uint8, 0x08},   {NumberType::int8, 0x09},
                                                         {NumberType::int16, 0x0B},   {NumberType::int32, 0x0C},
                                                         {NumberType::float32, 0x0D}, {NumberType::float64, 0x0E}};

template <class Bits>
Bits big_endian(const std::uint8_t* bytes) {
  Bits value = 0;
  for (std::size_t i = 0; i < sizeof(Bits); ++i) value = static_cast<Bits>(value << 8 | bytes[i]);
  return value;
}

template <class Bits, class Number>
void convert(const std::uint8_t* from, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<float>(std::bit_cast<Number>(big_endian<Bits>(from + i * sizeof(Bits))));
}

}  // namespace

IdxFile::IdxFile(const std::filesystem::path& path, std::int64_t max_bytes) : bytes_(read_content(path, max_bytes)) {
  const std::string file = path.string();
  if (bytes_.size() < prefix || bytes_[0] != 0 || bytes_[1] != 0 || idx_width_of(bytes_[2]) == 0)
    fail("{}: is not an idx file: it does not begin with 0, 0 and a type of number (8, 9, 11 to 14)", file);
  type_ = bytes_[2];
  const int rank = bytes_[3];
  if (rank < 1 || rank > max_rank) fail("{}: has rank {}; valid: 1 to {}", file, rank, max_rank);
  header_ = prefix + 4 * rank;
  if (bytes_.size() < header_) fail("{}: ends inside its header", file);
  std::vector<std::int64_t> extents;
  const std::int64_t held = bytes_.size() - header_;
  std::int64_t wanted = idx_width_of(type_);
  bool fits = true;
  for (int axis = 0; axis < rank; ++axis) {
    extents.push_back(big_endian<std::uint32_t>(bytes_.data() + prefix + 4 * axis));
    if (extents.back() == 0) fail("{}: axis {} has no entries", file, axis);
    fits = fits && wanted <= held / extents.back();
    if (fits) wanted *= extents.back();
  }
  shape_ = Shape(std::move(extents));
  if (!fits || wanted != held) fail("{}: the header says {}, but {} bytes follow it", file, shape_.str(), held);
}

std::optional<IdxHeader> read_idx_header(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < prefix || bytes[0] != 0 || bytes[1] != 0 || idx_width_of(bytes[2]) == 0) return std::nullopt;
  const std::size_t rank = bytes[3], front = prefix + 4 * rank;
  if (rank < 1 || rank > max_rank || bytes.size() < front) return std::nullopt;
  IdxHeader header;
  for (const auto& [type, code] : codes)
    if (code == bytes[2]) header.type = name_of(type);
  std::vector<std::int64_t> extents;
  std::uint64_t count = idx_width_of(bytes[2]);
  constexpr std::uint64_t most = std::uint64_t{1} << 48;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const auto n = big_endian<std::uint32_t>(bytes.data() + prefix + 4 * axis);
    if (n == 0 || count > most / n) return std::nullopt;
    extents.push_back(n);
    count *= n;
  }
  header.shape = Shape(std::move(extents));
  header.bytes = front + count;
  return header;
}

bool idx_can_hold(NumberType type) {
  return std::ranges::any_of(codes, [type](const auto& code) { return code.first == type; });
}

Bytes idx_header(NumberType type, const Shape& shape) {
  expects(idx_can_hold(type) && shape.rank() >= 1, "a type and a shape that the format has");
  if (shape.rank() > max_rank) fail("idx: {} has more than {} axes", shape.str(), max_rank);
  Bytes bytes(prefix + 4 * shape.rank());
  for (const auto& [of, code] : codes)
    if (of == type) bytes[2] = code;
  bytes[3] = static_cast<std::uint8_t>(shape.rank());
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] > std::int64_t{0xFFFFFFFF}) fail("idx: {} has an axis longer than the format can say", shape.str());
    for (int k = 0; k < 4; ++k)
      bytes[prefix + static_cast<std::size_t>(4 * axis + k)] = static_cast<std::uint8_t>(shape[axis] >> (24 - 8 * k));
  }
  return bytes;
}

void IdxFile::read_row(std::int64_t index, std::span<float> out) const {
  expects(index >= 0 && index < shape_[0], "an entry of the first axis");
  expects(std::ssize(out) == shape_.count(1, shape_.rank()), "memory of an entry's size");
  const std::uint8_t* from =
      bytes_.data() + header_ + static_cast<std::size_t>(index) * out.size() * idx_width_of(type_);
  switch (type_) {
    case 0x08: return convert<std::uint8_t, std::uint8_t>(from, out);
    case 0x09: return convert<std::uint8_t, std::int8_t>(from, out);
    case 0x0B: return convert<std::uint16_t, std::int16_t>(from, out);
    case 0x0C: return convert<std::uint32_t, std::int32_t>(from, out);
    case 0x0D: return convert<std::uint32_t, float>(from, out);
    default: return convert<std::uint64_t, double>(from, out);
  }
}

}  // namespace isobar::files
