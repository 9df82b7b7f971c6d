#include "isobar/hdf5/netcdf_classic_header.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::hdf5 {
namespace {

constexpr std::int64_t longest_header = std::int64_t{64} << 20;
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

struct Type {
  std::string_view name;
  files::Stored stored;
};

// By their numbers in the file, starting with 1; those above 6 exist only in CDF-5.
constexpr std::array types{Type{"byte", {files::Stored::Kind::whole, 1, true, true}},
                           Type{"char", {files::Stored::Kind::other, 1, false, true}},
                           Type{"short", {files::Stored::Kind::whole, 2, true, true}},
                           Type{"int", {files::Stored::Kind::whole, 4, true, true}},
                           Type{"float", {files::Stored::Kind::real, 4, true, true}},
                           Type{"double", {files::Stored::Kind::real, 8, true, true}},
                           Type{"ubyte", {files::Stored::Kind::whole, 1, false, true}},
                           Type{"ushort", {files::Stored::Kind::whole, 2, false, true}},
                           Type{"uint", {files::Stored::Kind::whole, 4, false, true}},
                           Type{"int64", {files::Stored::Kind::whole, 8, true, true}},
                           Type{"uint64", {files::Stored::Kind::whole, 8, false, true}}};

std::int64_t padded(std::int64_t bytes) { return (bytes + 3) / 4 * 4; }

/// A variable as the header describes it, before its place is checked.
struct Told {
  std::int64_t begin = 0;
  std::int64_t bytes = 0;  // of the variable, or of its part in one record
  bool in_records = false;
};

class HeaderReader {
 public:
  HeaderReader(const files::InputFile& file, NetcdfHeader& header) : file_(file), header_(header) {}

  std::vector<ClassicPlace> read() {
    const std::span<const std::uint8_t> magic = take(4);
    version_ = magic[3];
    if (std::memcmp(magic.data(), "CDF", 3) != 0 || (version_ != 1 && version_ != 2 && version_ != 5))
      fail("{}: is not a classic NetCDF file: it does not begin with CDF and 1, 2 or 5", name());
    header_.kind = version_ == 1 ? "NetCDF classic" : version_ == 2 ? "NetCDF 64-bit offset" : "NetCDF CDF-5";
    // All ones: the file was written as a stream, and the number of records follows from its size.
    const std::uint64_t records = version_ == 5 ? number(8) : number(4);
    const bool streaming = records == (version_ == 5 ? ~std::uint64_t{0} : 0xFFFFFFFFu);
    read_dimensions();
    header_.attributes = read_attributes("the file");
    read_variables();
    return settle_records(streaming ? std::nullopt : std::optional(records));
  }

 private:
  std::string name() const { return file_.path().string(); }

  [[noreturn]] void wrong(std::string_view what) const {
    fail("{}: the NetCDF header is damaged before byte {}: {}", name(), at_, what);
  }

  std::span<const std::uint8_t> take(std::int64_t count) {
    if (count > std::min(file_.size(), longest_header) - at_)
      fail("{}: the NetCDF header at byte {} wants {} bytes more, but {}", name(), at_, count,
           file_.size() <= longest_header ? fmt::format("the file ends at byte {}", file_.size())
                                          : "headers are read up to 64 MiB");
    // A window moves over the header: most headers are a few kilobytes in files of gigabytes.
    if (at_ < window_begin_ || at_ + count > window_begin_ + std::ssize(window_)) {
      window_begin_ = at_;
      window_.resize(std::min(std::max(count, std::int64_t{1} << 14), file_.size() - at_));
      file_.read_at(at_, window_);
    }
    const std::size_t first = at_ - window_begin_;
    at_ += count;
    return std::span(window_).subspan(first, count);
  }

  std::uint64_t number(std::int64_t bytes) {
    std::uint64_t value = 0;
    for (const std::uint8_t byte : take(bytes)) value = value << 8 | byte;
    return value;
  }

  std::int64_t size(std::int64_t bytes, std::string_view what) {
    const std::uint64_t value = number(bytes);
    if (value > static_cast<std::uint64_t>(largest)) wrong(fmt::format("{} is {}", what, value));
    return static_cast<std::int64_t>(value);
  }

  std::int64_t size(std::string_view what) { return size(version_ == 5 ? 8 : 4, what); }

  // The length of a list that begins with `tag`; each entry takes at least `least` bytes.
  std::size_t list_length(std::uint64_t tag, std::int64_t least, std::string_view what) {
    const std::uint64_t found = number(4);
    const std::int64_t length = size(what);
    if (found == 0 && length == 0) return 0;
    if (found != tag) wrong(fmt::format("a list of {} begins with {}", what, found));
    if (length > (file_.size() - at_) / least) wrong(fmt::format("{} {} do not fit the file", length, what));
    return static_cast<std::size_t>(length);
  }

  std::string read_name() {
    const std::int64_t length = size("the length of a name");
    const auto bytes = take(length);
    std::string text(bytes.begin(), bytes.end());
    take(padded(length) - length);
    return text;
  }

  const Type& read_type() {
    const std::uint64_t type = number(4);
    if (type < 1 || type > (version_ == 5 ? types.size() : 6)) wrong(fmt::format("there is no type {}", type));
    return types[type - 1];
  }

  void read_dimensions() {
    const std::size_t count = list_length(0x0A, 8, "dimensions");
    for (std::size_t i = 0; i < count; ++i) {
      NetcdfDimension dimension{read_name()};
      dimension.size = size("the length of a dimension");
      dimension.unlimited = dimension.size == 0;
      if (dimension.unlimited && record_dimension_) wrong("two dimensions are unlimited");
      if (dimension.unlimited) record_dimension_ = i;
      header_.dimensions.push_back(std::move(dimension));
    }
  }

  std::vector<NetcdfAttribute> read_attributes(std::string_view owner) {
    std::vector<NetcdfAttribute> attributes(list_length(0x0C, 12, "attributes"));
    for (NetcdfAttribute& attribute : attributes) {
      attribute.name = read_name();
      const Type& type = read_type();
      attribute.type = type.name;
      const std::int64_t count = size("the length of an attribute");
      if (count > file_.size() / type.stored.bytes)
        wrong(fmt::format("attribute '{}' of {} has {} values", one_line(attribute.name), one_line(owner), count));
      const std::int64_t bytes = count * type.stored.bytes;
      const auto content = take(bytes);
      if (type.stored.kind == files::Stored::Kind::other) {
        attribute.text.assign(content.begin(), content.end());
        // Writers in C often count the terminating zero as well.
        while (attribute.text.ends_with('\0')) attribute.text.pop_back();
      } else {
        attribute.stored = type.stored;
        attribute.numbers.resize(count);
        decoder<double>(type.stored)(reinterpret_cast<const std::byte*>(content.data()), attribute.numbers.data(),
                                     attribute.numbers.size());
      }
      take(padded(bytes) - bytes);
    }
    return attributes;
  }

  void read_variables() {
    const std::size_t count = list_length(0x0B, 28, "variables");
    for (std::size_t i = 0; i < count; ++i) {
      NetcdfVariable variable{.name = read_name()};
      const std::int64_t rank = size("the rank of a variable");
      if (rank > static_cast<std::int64_t>(most_axes))
        wrong(fmt::format("variable '{}' has {} axes, at most {} are read", one_line(variable.name), rank, most_axes));
      for (std::int64_t axis = 0; axis < rank; ++axis) {
        const std::int64_t dimension = size("the number of a dimension");
        if (dimension >= std::ssize(header_.dimensions))
          wrong(fmt::format("variable '{}' has a dimension {} of {}", one_line(variable.name), dimension,
                            header_.dimensions.size()));
        variable.dimensions.push_back(dimension);
      }
      variable.attributes = read_attributes(variable.name);
      const Type& type = read_type();
      variable.type = type.name;
      variable.stored = type.stored;
      size("the size of a variable");  // redundant, and cannot exceed 4 GiB
      Told told{.begin = size(version_ == 1 ? 4 : 8, "the place of a variable")};
      place(variable, told);
      header_.variables.push_back(std::move(variable));
      told_.push_back(told);
    }
  }

  void place(const NetcdfVariable& variable, Told& told) const {
    std::vector<std::int64_t> sizes;
    for (std::size_t axis = 0; axis < variable.dimensions.size(); ++axis) {
      const bool record = variable.dimensions[axis] == record_dimension_;
      if (record && axis > 0)
        wrong(fmt::format("variable '{}' has the unlimited dimension in another place than the first",
                          one_line(variable.name)));
      if (record) told.in_records = true;
      else sizes.push_back(header_.dimensions[variable.dimensions[axis]].size);
    }
    const std::string subject = fmt::format("{}: variable '{}'", name(), one_line(variable.name));
    told.bytes = checked_count(sizes, file_.size(), subject) * variable.stored.bytes;
  }

  std::vector<ClassicPlace> settle_records(std::optional<std::uint64_t> told_records) {
    const auto in_records = std::ranges::count_if(told_, &Told::in_records);
    std::int64_t record_bytes = 0, first = largest;
    for (const Told& told : told_) {
      if (!told.in_records) continue;
      // If only one variable is in records, it is stored without padding.
      if (__builtin_add_overflow(record_bytes, in_records == 1 ? told.bytes : padded(told.bytes), &record_bytes))
        wrong("records are too large");
      first = std::min(first, told.begin);
    }
    const std::int64_t held = in_records > 0 && first < file_.size() ? (file_.size() - first) / record_bytes : 0;
    if (told_records && in_records > 0 && *told_records > static_cast<std::uint64_t>(held) + 1)
      fail("{}: {} records of {} bytes were written, the file holds {}: it is truncated", name(), *told_records,
           record_bytes, held);
    const std::int64_t records = in_records == 0 ? 0 : (told_records ? static_cast<std::int64_t>(*told_records) : held);
    if (record_dimension_) header_.dimensions[*record_dimension_].size = records;
    std::vector<ClassicPlace> places;
    for (std::size_t v = 0; v < told_.size(); ++v) {
      NetcdfVariable& variable = header_.variables[v];
      std::vector<std::int64_t> extents;
      for (const std::size_t d : variable.dimensions) extents.push_back(header_.dimensions[d].size);
      variable.shape = Shape(std::move(extents));
      const Told& told = told_[v];
      const std::int64_t before = told.in_records ? std::max(records - 1, std::int64_t{0}) * record_bytes : 0;
      const std::int64_t needed = told.in_records && records == 0 ? 0 : before + told.bytes;
      if (needed > 0 && (told.begin > file_.size() || needed > file_.size() - told.begin))
        fail("{}: variable '{}' lies at bytes {} to {}, but the file ends at byte {}: it is truncated", name(),
             one_line(variable.name), told.begin,
             static_cast<std::uint64_t>(told.begin) + static_cast<std::uint64_t>(needed), file_.size());
      places.push_back({told.begin, told.in_records ? record_bytes : 0});
    }
    return places;
  }

  const files::InputFile& file_;
  NetcdfHeader& header_;
  int version_ = 0;
  std::int64_t at_ = 0;
  std::vector<std::uint8_t> window_;
  std::int64_t window_begin_ = 0;
  std::optional<std::size_t> record_dimension_;
  std::vector<Told> told_;
};

}  // namespace

std::vector<ClassicPlace> read_classic_header(const files::InputFile& file, NetcdfHeader& header) {
  return HeaderReader(file, header).read();
}

}  // namespace isobar::hdf5
