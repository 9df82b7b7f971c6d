#include "isobar/files/idx_file.hpp"

#include <algorithm>
#include <bit>

#include "isobar/base/error.hpp"

namespace isobar::files {
namespace {

constexpr int max_rank = 8;
constexpr std::size_t prefix = 4;  // zeros, type, rank

constexpr std::pair<NumberType, std::uint8_t> codes[] = {{NumberType::uint8, 0x08},   {NumberType::int8, 0x09},
                                                         {NumberType::int16, 0x0B},   {NumberType::int32, 0x0C},
                                                         {NumberType::float32, 0x0D}, {NumberType::float64, 0x0E}};

std::optional<NumberType> type_of_code(std::uint8_t code) {
  for (const auto& [type, known] : codes)
    if (known == code) return type;
  return std::nullopt;
}

std::uint32_t extent_at(std::span<const std::uint8_t> bytes, std::size_t axis) {
  std::uint32_t extent = 0;
  for (const std::uint8_t byte : bytes.subspan(prefix + 4 * axis, 4)) extent = extent << 8 | byte;
  return extent;
}

}  // namespace

IdxFile::IdxFile(const std::filesystem::path& path, std::int64_t max_bytes) : bytes_(read_content(path, max_bytes)) {
  const std::string file = path.string();
  const auto type = bytes_.size() < prefix ? std::nullopt : type_of_code(bytes_[2]);
  if (!type || bytes_[0] != 0 || bytes_[1] != 0)
    fail("{}: is not an idx file: it does not begin with 0, 0 and a type of number (8, 9, 11 to 14)", file);
  type_ = *type;
  const int rank = bytes_[3];
  if (rank < 1 || rank > max_rank) fail("{}: has rank {}; valid: 1 to {}", file, rank, max_rank);
  header_ = prefix + 4 * rank;
  if (bytes_.size() < header_) fail("{}: ends inside its header", file);
  std::vector<std::int64_t> extents;
  const std::int64_t held = bytes_.size() - header_;
  std::int64_t wanted = width_of(type_);
  bool fits = true;
  for (int axis = 0; axis < rank; ++axis) {
    extents.push_back(extent_at(bytes_, axis));
    if (extents.back() == 0) fail("{}: axis {} has no entries", file, axis);
    fits = fits && wanted <= held / extents.back();
    if (fits) wanted *= extents.back();
  }
  shape_ = Shape(std::move(extents));
  if (!fits || wanted != held) fail("{}: the header says {}, but {} bytes follow it", file, shape_.str(), held);
}

std::optional<IdxHeader> read_idx_header(std::span<const std::uint8_t> bytes) {
  const auto type = bytes.size() < prefix ? std::nullopt : type_of_code(bytes[2]);
  if (!type || bytes[0] != 0 || bytes[1] != 0) return std::nullopt;
  const std::size_t rank = bytes[3], front = prefix + 4 * rank;
  if (rank < 1 || rank > max_rank || bytes.size() < front) return std::nullopt;
  IdxHeader header{.type = name_of(*type)};
  std::vector<std::int64_t> extents;
  std::uint64_t count = width_of(*type);
  constexpr std::uint64_t most = std::uint64_t{1} << 48;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::uint32_t n = extent_at(bytes, axis);
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
    for (int k = 0; k < 4; ++k) bytes[prefix + 4 * axis + k] = static_cast<std::uint8_t>(shape[axis] >> (24 - 8 * k));
  }
  return bytes;
}

void IdxFile::read_row(std::int64_t index, std::span<float> out) const {
  expects(index >= 0 && index < shape_[0], "an entry of the first axis");
  expects(std::ssize(out) == shape_.count(1, shape_.rank()), "memory of an entry's size");
  const std::size_t bytes = out.size() * width_of(type_);
  to_floats(type_, std::span(bytes_).subspan(header_ + index * bytes, bytes), std::endian::big, out);
}

}  // namespace isobar::files
