// netcdf(kind=netcdf4, type=float32, y_type=float32, deflate=0, low=[], high=[], names=[], grid=global,
// start=2000-01-01, hours=3) as a format to write, following the CF conventions: time unlimited, a variable per
// channel, y as "labels". low and high, per channel or for all, pack numbers into integers of `type`; NaN becomes
// _FillValue. grid=global makes the two axes latitudes from -90 to 90 degrees north and longitudes around the Earth;
// grid=none writes no coordinates.
#include <algorithm>
#include <cmath>
#include <optional>

#include "isobar/base/error.hpp"
#include "isobar/datasets/netcdf_format.hpp"
#include "isobar/datasets/packing.hpp"
#include "isobar/hdf5/cf_time.hpp"
#include "isobar/hdf5/netcdf_writer.hpp"

namespace isobar::datasets {
namespace {

using files::NumberType;
using hdf5::NetcdfWriter;

struct NetcdfSampleOptions {
  hdf5::NetcdfKind kind = hdf5::NetcdfKind::netcdf4;
  NumberType type = NumberType::float32, y_type = NumberType::float32;
  int deflate = 0;
  std::vector<double> low, high;
  std::vector<std::string> names;
  bool global = true;
  double first_hour = 0, hours = 3;
};

/// The smallest and the largest integer of a type, and the one that means missing.
struct Codes {
  double least, greatest, fill;
};

std::optional<Codes> codes_of(NumberType type) {
  switch (type) {
    case NumberType::int8: return Codes{-127, 127, -128};
    case NumberType::uint8: return Codes{0, 254, 255};
    case NumberType::int16: return Codes{-32767, 32767, -32768};
    case NumberType::uint16: return Codes{0, 65534, 65535};
    default: return std::nullopt;
  }
}

bool is_real(NumberType type) { return type == NumberType::float32 || type == NumberType::float64; }

std::pair<double, double> range_of(NumberType type) {
  switch (type) {
    case NumberType::int8: return {-0x1p7, 0x1p7 - 1};
    case NumberType::uint8: return {0, 0x1p8 - 1};
    case NumberType::int16: return {-0x1p15, 0x1p15 - 1};
    case NumberType::uint16: return {0, 0x1p16 - 1};
    case NumberType::int32: return {-0x1p31, 0x1p31 - 1};
    case NumberType::uint32: return {0, 0x1p32 - 1};
    case NumberType::int64: return {-0x1p63, 0x1p62};
    default: return {0, 0x1p63};
  }
}

/// How the numbers of one variable are stored.
struct Column {
  std::string name{};
  int variable = 0;
  NumberType type = NumberType::float32;
  double low = 0, high = 0, scale = 1, offset = 0;
  std::optional<Codes> codes{};  // if packed

  float stored(std::int64_t sample, float number) const {
    if (codes) {
      if (std::isnan(number)) return static_cast<float>(codes->fill);
      const double code = std::nearbyint((number - offset) / scale);
      if (code >= codes->least && code <= codes->greatest) return static_cast<float>(code);
    } else {
      const auto [least, greatest] = range_of(type);
      if (is_real(type)) return number;
      if (number == std::nearbyint(number) && number >= least && number <= greatest) return number;
    }
    fail("sample {}: '{}' cannot be stored as {}{}: {}", sample, name, name_of(type),
         codes ? fmt::format(" from {:g} to {:g}", low, high) : "", number);
  }
};

class NetcdfSamples final : public SampleWriter {
 public:
  NetcdfSamples(const std::filesystem::path& to, const Outline& outline, NetcdfSampleOptions options)
      : fields_(outline.fields), options_(std::move(options)), file_(to, options_.kind) {
    file_.set_text(NetcdfWriter::file, "Conventions", "CF-1.8");
    const int time = file_.add_dimension("time", NetcdfWriter::unlimited);
    time_ = file_.add_variable("time", NumberType::float64, {&time, 1});
    file_.set_text(time_, "standard_name", "time");
    file_.set_text(time_, "units", "hours since 2000-01-01 00:00:00");
    file_.set_text(time_, "calendar", "standard");
    const std::vector<std::int64_t>& x = fields_[0].shape.extents();
    space_.assign(x.begin(), x.end() - 1);
    std::vector<int> grid = add_space();
    grid.insert(grid.begin(), time);
    for (std::int64_t c = 0; c < x.back(); ++c) columns_.push_back(add_channel(outline, c, grid));
    for (std::size_t f = 1; f < fields_.size(); ++f) {
      Column column{.name = f == 1 ? "labels" : fields_[f].name, .type = options_.y_type};
      column.variable =
          file_.add_variable(column.name, column.type, label_axes(fields_[f].shape, grid), options_.deflate);
      others_.push_back(std::move(column));
    }
    write_places();
  }

  void write(std::span<const std::span<const float>> fields) override {
    expects(fields.size() == fields_.size(), "every field of the sample");
    const double hour = options_.first_hour + static_cast<double>(count_) * options_.hours;
    file_.write<double>(time_, std::vector{count_}, std::vector<std::int64_t>{1}, {&hour, 1});
    const std::size_t channels = columns_.size(), points = fields[0].size() / channels;
    for (std::size_t c = 0; c < channels; ++c) {
      plane_.resize(points);
      for (std::size_t p = 0; p < points; ++p) plane_[p] = columns_[c].stored(count_, fields[0][p * channels + c]);
      write_plane(columns_[c], space_);
    }
    for (std::size_t f = 1; f < fields.size(); ++f) {
      plane_.clear();
      for (const float number : fields[f]) plane_.push_back(others_[f - 1].stored(count_, number));
      write_plane(others_[f - 1], label_extents(fields_[f].shape));
    }
    ++count_;
  }

  void finish() override { file_.commit(); }

 private:
  std::vector<int> add_space() {
    std::vector<int> axes;
    const bool two = space_.size() == 2;
    for (std::size_t a = 0; a < space_.size(); ++a) {
      std::string name = fmt::format("axis_{}", a);
      if (two) name = options_.global ? (a == 0 ? "lat" : "lon") : (a == 0 ? "y" : "x");
      axes.push_back(file_.add_dimension(name, space_[a]));
      if (!two || !options_.global) continue;
      const int place = file_.add_variable(name, NumberType::float64, {&axes.back(), 1});
      file_.set_text(place, "standard_name", a == 0 ? "latitude" : "longitude");
      file_.set_text(place, "units", a == 0 ? "degrees_north" : "degrees_east");
      places_.push_back(place);
    }
    return axes;
  }

  Column add_channel(const Outline& outline, std::int64_t c, std::span<const int> grid) {
    const std::size_t at = c;
    Column column{.name = fmt::format("x{}", c), .type = options_.type};
    if (at < options_.names.size()) column.name = options_.names[at];
    else if (at < outline.channels.size()) column.name = outline.channels[at];
    // "T@850" would be read as a level of "T", and '/' separates groups.
    std::erase(column.name, '@');
    std::ranges::replace(column.name, '/', '_');
    column.variable = file_.add_variable(column.name, column.type, grid, options_.deflate);
    if (options_.low.empty()) return column;
    column.codes = codes_of(options_.type);
    column.low = options_.low[options_.low.size() == 1 ? 0 : at];
    column.high = options_.high[options_.high.size() == 1 ? 0 : at];
    column.scale = (column.high - column.low) / (column.codes->greatest - column.codes->least);
    column.offset = column.low - column.codes->least * column.scale;
    file_.set_numbers(column.variable, "scale_factor", NumberType::float64, {&column.scale, 1});
    file_.set_numbers(column.variable, "add_offset", NumberType::float64, {&column.offset, 1});
    file_.set_numbers(column.variable, "_FillValue", column.type, {&column.codes->fill, 1});
    return column;
  }

  // A number per sample has only the time axis; labels on the grid of x share its dimensions.
  static std::vector<std::int64_t> label_extents(const Shape& shape) {
    return shape == Shape{1} ? std::vector<std::int64_t>{} : shape.extents();
  }

  std::vector<int> label_axes(const Shape& shape, const std::vector<int>& grid) {
    if (shape.extents() == space_) return grid;
    std::vector<int> axes{grid[0]};
    for (const std::int64_t extent : label_extents(shape))
      axes.push_back(file_.add_dimension(fmt::format("label_{}", label_dimensions_++), extent));
    return axes;
  }

  void write_places() {
    for (std::size_t a = 0; a < places_.size(); ++a) {
      const std::int64_t count = space_[a];
      std::vector<double> degrees;
      for (std::int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<double>(i);
        degrees.push_back(a == 1      ? 360 * at / static_cast<double>(count)
                          : count > 1 ? -90 + 180 * at / static_cast<double>(count - 1)
                                      : 0);
      }
      file_.write<double>(places_[a], std::vector<std::int64_t>{0}, std::vector{count}, degrees);
    }
  }

  void write_plane(const Column& column, std::vector<std::int64_t> extent) {
    extent.insert(extent.begin(), 1);
    std::vector<std::int64_t> from(extent.size(), 0);
    from[0] = count_;
    file_.write<float>(column.variable, from, extent, plane_);
  }

  std::vector<Field> fields_;
  NetcdfSampleOptions options_;
  NetcdfWriter file_;
  int time_ = 0, label_dimensions_ = 0;
  std::vector<std::int64_t> space_;
  std::vector<int> places_;
  std::vector<Column> columns_, others_;
  std::vector<float> plane_;
  std::int64_t count_ = 0;
};

}  // namespace

std::unique_ptr<SampleWriter> create_netcdf(const std::filesystem::path& to, const Outline& outline, Args& args) {
  NetcdfSampleOptions options;
  options.kind = *hdf5::netcdf_kind(args.one_of("kind", "netcdf4", {"netcdf4", "classic", "64bit", "cdf5"}));
  options.type = read_number_type(args, "type", NumberType::float32);
  options.y_type = read_number_type(args, "y_type", NumberType::float32);
  const std::int64_t deflate = args.integer("deflate", 0);
  args.require(deflate >= 0 && deflate <= 9 && (deflate == 0 || options.kind == hdf5::NetcdfKind::netcdf4),
               "deflate from 0 to 9, and above 0 only with kind=netcdf4");
  options.deflate = deflate;
  options.low = args.reals("low", {});
  options.high = args.reals("high", {});
  expects(!outline.fields.empty() && outline.fields[0].shape.rank() > 0, "samples with an x that has axes");
  const std::size_t channels = outline.fields[0].shape[-1];
  const auto one_or_all = [&](const std::vector<double>& list) { return list.size() == 1 || list.size() == channels; };
  if (!options.low.empty() || !options.high.empty()) {
    args.require(one_or_all(options.low) && one_or_all(options.high),
                 fmt::format("low and high with one number, or one for each of the {} channels", channels));
    for (std::size_t c = 0; c < channels; ++c)
      args.require(options.low[options.low.size() == 1 ? 0 : c] < options.high[options.high.size() == 1 ? 0 : c],
                   "low < high");
    args.require(codes_of(options.type).has_value(), "type = int8, uint8, int16 or uint16 to pack from low to high");
  }
  options.names = args.texts("names", {});
  args.require(options.names.empty() || options.names.size() == channels,
               fmt::format("names for all of the {} channels", channels));
  options.global = args.one_of("grid", "global", {"global", "none"}) == "global";
  const hdf5::CfTime clock("hours since 2000-01-01", hdf5::Calendar::standard);
  options.first_hour = clock.number(hdf5::parse_instant(clock.calendar(), args.text("start", "2000-01-01")));
  options.hours = args.real("hours", 3);
  args.require(options.hours > 0, "hours > 0 from one sample to the next");
  args.finish();
  return std::make_unique<NetcdfSamples>(to, outline, std::move(options));
}

}  // namespace isobar::datasets
