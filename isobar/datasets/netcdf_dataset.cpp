// netcdf(path=..., x=[TMQ, U@850], y='', level=[], time='', from='', to='', every=1, samples=0, missing=nan): a sample
// per time step of NetCDF files, in the order of their times; variables become channels by name. A variable with levels
// gives a channel for each, or for those chosen by level=[850, 500] or, for one variable only, by name@850. `from` and
// `to` select times, `to` excluded; time=month numbers samples by another dimension.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "isobar/datasets/file_cache.hpp"
#include "isobar/datasets/netcdf_format.hpp"
#include "isobar/datasets/netcdf_series.hpp"
#include "isobar/datasets/packing.hpp"
#include "isobar/hdf5/netcdf_file.hpp"

namespace isobar::datasets {
namespace {

using hdf5::NetcdfFile;
using hdf5::NetcdfVariable;

constexpr std::size_t most_open_files = 64;
// Deflate makes numbers at most about a thousand times smaller; a header that claims more is wrong.
constexpr std::int64_t largest_compression = 1100;

struct NetcdfOptions {
  std::filesystem::path path;
  std::vector<std::string> x;
  std::string y;
  std::vector<double> levels;
  NetcdfChoice choice;
  std::int64_t samples = 0;  // 0: all
  bool mean = false;         // missing numbers become the mean of the channel
  float missing = std::numeric_limits<float>::quiet_NaN();
};

/// One name of x or y: a variable, perhaps with its own levels.
struct Wanted {
  std::size_t variable = 0;  // in choice.variables
  std::vector<double> levels{};
};

/// A wanted variable in one of the files.
struct NetcdfSource {
  const NetcdfVariable* variable = nullptr;
  NetcdfAxes axes{};
  std::vector<NetcdfChannel> channels{};
  std::vector<std::int64_t> space{};  // extents
};

/// One open file and what is read from it; a variable that it does not have stays null.
struct OpenNetcdf {
  NetcdfFile file;
  std::vector<NetcdfSource> sources;
  std::int64_t held_bytes() const { return 0; }
};

NetcdfSource find_source(const NetcdfFile& file, const std::string& name, const Wanted& wanted,
                         const std::string& time) {
  NetcdfSource source{.variable = file.find(name)};
  if (!source.variable) return source;
  if (!source.variable->is_numbers())
    fail("{}: variable '{}' holds no numbers but {}", file.path().string(), name, source.variable->type);
  source.axes = axes_of(file, *source.variable, time);
  source.channels = channels_of(file, *source.variable, source.axes, wanted.levels);
  for (const std::size_t axis : source.axes.space) source.space.push_back(source.variable->shape[axis]);
  return source;
}

void fill_with_mean(std::span<float> numbers) {
  double sum = 0;
  std::int64_t count = 0;
  for (const float number : numbers)
    if (!std::isnan(number)) sum += number, ++count;
  const float mean = count > 0 ? static_cast<float>(sum / static_cast<double>(count)) : 0;
  for (float& number : numbers)
    if (std::isnan(number)) number = mean;
}

// Transposes [row, column] of a file that has them the other way round.
void transpose(std::span<const float> from, std::int64_t rows, std::int64_t columns, std::span<float> to) {
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column) to[row * columns + column] = from[column * rows + row];
}

// From planes, one after another, to channels last; in blocks, so that a block of the result stays in the cache.
void interleave(std::span<const float> planes, std::size_t channels, std::span<float> out) {
  constexpr std::size_t block = 256;
  const std::size_t points = out.size() / channels;
  for (std::size_t first = 0; first < points; first += block) {
    const std::size_t last = std::min(first + block, points);
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t p = first; p < last; ++p) out[p * channels + c] = planes[c * points + p];
  }
}

class NetcdfDataset final : public Dataset {
 public:
  NetcdfDataset(NetcdfOptions options, const std::vector<std::filesystem::path>& files, NetcdfFiles opened,
                Survey& survey)
      : options_(std::move(options)),
        series_(files, complete(options_, wanted_, files, opened), opened, survey),
        open_(std::numeric_limits<std::int64_t>::max(), most_open_files) {
    if (series_.size() == 0) fail("{}: there are no samples", options_.path.string());
    series_.limit(limited(options_.path, options_.samples, series_.size()));
    for (std::size_t w = 0; w < wanted_.size(); ++w) first_.push_back(first_source(w, opened));
    const std::size_t inputs = options_.y.empty() ? wanted_.size() : wanted_.size() - 1;
    const NetcdfSource& leader = first_[0];
    for (std::size_t w = 0; w < inputs; ++w) {
      if (first_[w].space != leader.space)
        fail("{}: variable '{}' has the grid {}, but '{}' has {}: channels of one sample need the same",
             options_.path.string(), name(w), Shape(first_[w].space).str(), name(0), Shape(leader.space).str());
      for (const NetcdfChannel& channel : first_[w].channels) channels_.push_back(channel.name);
    }
    fields_.push_back({"x", shape_of(leader.space, std::ssize(channels_), true)});
    if (inputs < wanted_.size())
      fields_.push_back({"y", shape_of(first_.back().space, std::ssize(first_.back().channels), false)});
    whole_ = whole_region(fields_);
    // What is kept of the first files serves only for comparison; their variables are gone.
    for (NetcdfSource& source : first_) source.variable = nullptr;
  }

  std::int64_t size() const override { return series_.size(); }
  std::vector<Field> fields() const override { return fields_; }
  std::vector<std::string> channels() const override { return channels_; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    read_boxes(index, whole_, out);
  }
  void read_region(const Reading& reading, std::int64_t index, std::span<const Box> region,
                   std::span<const std::span<float>> out) const override {
    if (!reads_regions()) return Dataset::read_region(reading, index, region, out);
    expects_request(index, region, out);
    read_boxes(index, region, out);
  }
  /// The mean of a channel that replaces missing numbers is that of the whole sample.
  bool reads_regions() const override { return !options_.mean; }

  std::string where(std::int64_t index) const override {
    const NetcdfStep& step = series_.at(index, 0);
    const std::string date = series_.date(index);
    return fmt::format("{}{}{}", series_.files()[step.file].string(),
                       step.step >= 0 ? fmt::format(" step {}", step.step) : "",
                       date.empty() ? "" : fmt::format(" ({})", date));
  }

  std::optional<Geography> geography() const override {
    if (grid_.empty()) return std::nullopt;
    Geography made{grid_[0], grid_[1]};
    if (!series_.dated()) return made;
    // Counted from the first day, so that hours stay exact.
    hdf5::Date first = date_of(series_.calendar(), series_.instant(0));
    first.hour = first.minute = 0, first.microsecond = 0;
    made.time_units = fmt::format("hours since {}", first.str());
    made.calendar = name_of(series_.calendar());
    made.time = [this, units = hdf5::CfTime(made.time_units, series_.calendar())](std::int64_t sample) {
      return units.number(series_.instant(sample));
    };
    return made;
  }

  std::vector<FileSpan> spans() const override {
    std::vector<FileSpan> spans;
    if (series_.files().size() == 1) return spans;
    for (std::int64_t i = 0; i < size(); ++i) {
      const std::filesystem::path& file = series_.files()[series_.at(i, 0).file];
      if (spans.empty() || spans.back().file != file) spans.push_back({file, i, 0});
      ++spans.back().count;
    }
    return spans;
  }

 private:
  // Fills in what the first file tells when the user does not, and tells apart names and levels.
  static NetcdfChoice complete(NetcdfOptions& options, std::vector<Wanted>& wanted,
                               const std::vector<std::filesystem::path>& files, NetcdfFiles& opened) {
    if (options.x.empty()) {
      options.x = guess_variables(opened.try_emplace(0, files[0]).first->second, options.choice.time).x;
      std::erase(options.x, options.y);
      if (options.x.empty()) fail("{}: no variable has a grid; name those wanted: x=[...]", files[0].string());
    }
    NetcdfChoice& choice = options.choice;
    std::vector<std::string> names = options.x;
    if (!options.y.empty()) names.push_back(options.y);
    for (const std::string& name : names) {
      const std::size_t at = name.rfind('@');
      Wanted one{.levels = options.levels};
      const std::string variable = name.substr(0, at);
      if (at != std::string::npos) {
        double level = 0;
        const char* const end = name.data() + name.size();
        if (std::from_chars(name.data() + at + 1, end, level).ptr != end)
          fail_usage("x = {}: what follows '@' is not a level; valid: U@850", name);
        one.levels = {level};
      }
      const auto known = std::ranges::find(choice.variables, variable);
      one.variable = known - choice.variables.begin();
      if (known == choice.variables.end()) choice.variables.push_back(variable);
      wanted.push_back(std::move(one));
    }
    return choice;
  }

  static Shape shape_of(std::vector<std::int64_t> space, std::int64_t channels, bool always) {
    if (always || channels > 1 || space.empty()) space.push_back(channels);
    return Shape(std::move(space));
  }

  const std::string& name(std::size_t w) const { return options_.choice.variables[wanted_[w].variable]; }

  NetcdfSource first_source(std::size_t w, NetcdfFiles& opened) {
    const std::size_t number = series_.first_file(wanted_[w].variable);
    const std::filesystem::path& path = series_.files()[number];
    const NetcdfFile& file = opened.try_emplace(number, path).first->second;
    NetcdfSource source = find_source(file, name(w), wanted_[w], options_.choice.time);
    if (w == 0 && source.space.size() == 2)
      for (const std::size_t axis : source.axes.space)
        grid_.push_back(grid_axis(file, source.variable->dimensions[axis]));
    std::vector<std::int64_t> claimed = source.space;
    claimed.push_back(std::ssize(source.channels));
    std::error_code code;
    const std::int64_t bytes = std::filesystem::file_size(path, code);
    const std::int64_t most = std::min(bytes, std::int64_t{1} << 40) * largest_compression;
    if (hdf5::checked_count(claimed, most, fmt::format("{}: variable '{}'", path.string(), name(w))) == 0)
      fail("{}: variable '{}' has shape {}: no numbers", path.string(), name(w), source.variable->shape.str());
    return source;
  }

  std::shared_ptr<const OpenNetcdf> opened(std::size_t number) const {
    return open_.get(number, [&] {
      auto made = std::make_shared<OpenNetcdf>(NetcdfFile(series_.files()[number]));
      for (std::size_t w = 0; w < wanted_.size(); ++w) {
        NetcdfSource source = find_source(made->file, name(w), wanted_[w], options_.choice.time);
        const auto names = [](const NetcdfSource& of) {
          std::vector<std::string> list;
          for (const NetcdfChannel& channel : of.channels) list.push_back(channel.name);
          return list;
        };
        if (source.variable && (source.space != first_[w].space || names(source) != names(first_[w])))
          fail("{}: variable '{}' has the grid {} and {} channels, but {} and {} in {}", made->file.path().string(),
               name(w), Shape(source.space).str(), source.channels.size(), Shape(first_[w].space).str(),
               first_[w].channels.size(), series_.files()[series_.first_file(wanted_[w].variable)].string());
        made->sources.push_back(std::move(source));
      }
      return made;
    });
  }

  void read_boxes(std::int64_t index, std::span<const Box> region, std::span<const std::span<float>> out) const {
    const std::size_t inputs = wanted_.size() - (options_.y.empty() ? 0 : 1);
    read_field(index, 0, inputs, region[0], out[0], options_.mean);
    if (!options_.y.empty()) read_field(index, inputs, inputs + 1, region[1], out[1], false);
  }

  // Reads `part` of the channels of wanted_[first] up to, but not including, wanted_[last].
  void read_field(std::int64_t index, std::size_t first, std::size_t last, const Box& part, std::span<float> out,
                  bool mean) const {
    if (out.empty()) return;
    // A field of one channel may have no axis for it.
    const std::size_t rank = first_[first].space.size();
    const bool channel_axis = part.begin.size() > rank;
    const std::int64_t begin = channel_axis ? part.begin.back() : 0, end = channel_axis ? part.end(-1) : 1;
    const std::size_t channels = end - begin, points = out.size() / channels;
    // Several channels are read as planes and then interleaved; a single one is read in place.
    thread_local std::vector<float> planes;
    if (channels > 1) planes.resize(out.size());
    const std::span<float> target = channels > 1 ? std::span(planes) : out;
    std::int64_t next = 0;
    for (std::size_t w = first; w < last; ++w) {
      const std::int64_t before = next;
      next += std::ssize(first_[w].channels);
      if (next <= begin || before >= end) continue;
      const NetcdfStep& step = series_.at(index, wanted_[w].variable);
      const std::shared_ptr<const OpenNetcdf> open = opened(step.file);
      const NetcdfSource& source = open->sources[w];
      if (!source.variable || source.axes.time.has_value() != (step.step >= 0) ||
          (step.step >= 0 && step.step >= source.variable->shape[*source.axes.time]))
        fail("{}: variable '{}' has changed since the data set was opened", open->file.path().string(), name(w));
      for (std::int64_t c = std::max(before, begin); c < std::min(next, end); ++c) {
        const std::span<float> plane = target.subspan((c - begin) * points, points);
        read_plane(open->file, source, source.channels[c - before], step.step, part, plane);
        if (mean) fill_with_mean(plane);
      }
    }
    if (channels > 1) interleave(planes, channels, out);
  }

  void read_plane(const NetcdfFile& file, const NetcdfSource& source, const NetcdfChannel& channel, std::int64_t step,
                  const Box& part, std::span<float> out) const {
    std::vector<std::int64_t> from = channel.from, extent(from.size(), 1);
    if (step >= 0) from[*source.axes.time] = step;
    for (std::size_t i = 0; i < source.axes.space.size(); ++i)
      from[source.axes.space[i]] = part.begin[i], extent[source.axes.space[i]] = part.shape.extents()[i];
    if (std::ranges::is_sorted(source.axes.space)) {
      file.read_values<float>(*source.variable, from, extent, out, options_.missing);
      return;
    }
    std::vector<float> turned(out.size());
    file.read_values<float>(*source.variable, from, extent, turned, options_.missing);
    transpose(turned, part.shape[0], part.shape[1], out);
  }

  NetcdfOptions options_;
  std::vector<Wanted> wanted_;
  NetcdfSeries series_;
  mutable FileCache<OpenNetcdf> open_;
  std::vector<NetcdfSource> first_;
  std::vector<GridAxis> grid_;  // rows and columns, if there are exactly these
  std::vector<Field> fields_;
  Region whole_;
  std::vector<std::string> channels_;
};

void read_missing(Args& args, NetcdfOptions& options) {
  const std::string word = args.text("missing", "nan");
  options.mean = word == "mean";
  if (word == "nan" || options.mean) return;
  options.missing = 0;
  if (word == "zero") return;
  const char* const end = word.data() + word.size();
  args.require(std::from_chars(word.data(), end, options.missing).ptr == end,
               "missing = nan, zero, mean (of the channel in the sample), or a number");
}

std::unique_ptr<Dataset> make_netcdf(Args& args, Survey& survey) {
  NetcdfOptions options;
  options.x = args.texts("x", {});
  options.y = args.text("y", "");
  options.levels = args.reals("level", {});
  options.choice.time = args.text("time", "");
  options.choice.from = args.text("from", "");
  options.choice.to = args.text("to", "");
  options.choice.every = args.integer("every", 1);
  options.samples = args.integer("samples", 0);
  read_missing(args, options);
  options.path = args.text("path");
  args.require(options.choice.every >= 1, "every >= 1: every n-th sample of those chosen");
  args.require(options.samples >= 0, "samples >= 0, where 0 means all");
  args.finish();
  const std::vector<std::filesystem::path> files = list_netcdf(options.path);
  return std::make_unique<NetcdfDataset>(std::move(options), files, NetcdfFiles{}, survey);
}

}  // namespace

extern const DatasetRow netcdf;
const DatasetRow netcdf{"netcdf",    "NetCDF files of any kind: a sample per time step, variables as channels",
                        make_netcdf, recognises_netcdf,
                        look_netcdf, create_netcdf};

}  // namespace isobar::datasets
