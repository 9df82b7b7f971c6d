// atmosphere(height=768, width=1152, count=64, hours=3, start='2000-01-01', ...): climate states generated when they
// are read. x: [height, width, channels], the channels by name or all sixteen, in their own units; y: [height, width],
// 0 background, 1 tropical cyclone, 2 atmospheric river, by the usual rules or, with labels=1, the relaxed ones. The
// most recent frames are kept within max_gigabytes. Training and test sets use different years (`start`) or another
// `run`.
#include <algorithm>
#include <limits>
#include <string>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/datasets/dataset.hpp"
#include "isobar/datasets/file_cache.hpp"
#include "isobar/datasets/weather_series.hpp"

namespace isobar::datasets {
namespace {

// The fields of one sample, as read() returns them.
struct Kept {
  std::vector<float> x;
  std::vector<std::uint8_t> y;
  std::int64_t held_bytes() const { return x.size() * sizeof(float) + y.size(); }
};

class AtmosphereDataset final : public Dataset {
 public:
  AtmosphereDataset(const WeatherOptions& options, std::int64_t count, std::vector<int> channels, int labels,
                    double max_gigabytes)
      : series_(options),
        count_(count),
        channels_(std::move(channels)),
        labels_(labels),
        kept_(static_cast<std::int64_t>(max_gigabytes * 1e9), std::numeric_limits<std::size_t>::max()) {}

  std::int64_t size() const override { return count_; }
  std::vector<Field> fields() const override {
    const worlds::SphereGrid& grid = series_.atmosphere().grid();
    return {{"x", Shape{grid.height, grid.width, std::ssize(channels_)}}, {"y", Shape{grid.height, grid.width}}};
  }
  std::vector<std::string> channels() const override {
    std::vector<std::string> names;
    for (const int channel : channels_) names.emplace_back(worlds::channels[channel].name);
    return names;
  }
  std::vector<std::string> classes() const override { return {"background", "cyclone", "river"}; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    const auto sample = kept_.get(index, [&] { return made(index); });
    std::ranges::copy(sample->x, out[0].begin());
    std::ranges::copy(sample->y, out[1].begin());
  }

  std::string where(std::int64_t index) const override { return "atmosphere " + series_.name(index); }
  std::optional<Geography> geography() const override { return geography_of(series_); }

 private:
  std::shared_ptr<const Kept> made(std::int64_t index) const {
    WeatherFrame frame = series_.make(index);
    auto kept = std::make_shared<Kept>();
    kept->y = std::move(frame.labels[labels_]);
    kept->x.reserve(kept->y.size() * channels_.size());
    for (std::size_t cell = 0; cell < kept->y.size(); ++cell)
      for (const int channel : channels_) kept->x.push_back(frame.state[cell * worlds::channel_count + channel]);
    return kept;
  }

  WeatherSeries series_;
  std::int64_t count_;
  std::vector<int> channels_;
  int labels_;
  mutable FileCache<Kept> kept_;
};

std::vector<int> numbers_of(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const worlds::ChannelInfo& channel : worlds::channels) known.emplace_back(channel.name);
  std::vector<int> numbers;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end()) fail_usage("atmosphere: unknown channel '{}'{}", name, suggestion(name, known));
    numbers.push_back(found - known.begin());
  }
  return numbers;
}

std::unique_ptr<Dataset> make_atmosphere(Args& args, Survey&) {
  WeatherOptions options;
  options.atmosphere.height = std::clamp<std::int64_t>(args.integer("height", 768), 0, 1 << 20);
  options.atmosphere.width = std::clamp<std::int64_t>(args.integer("width", 1152), 0, 1 << 20);
  const std::int64_t count = args.integer("count", 64);
  options.hours = std::clamp<std::int64_t>(args.integer("hours", 3), 0, 1 << 20);
  options.start = args.text("start", options.start);
  options.atmosphere.seed = args.integer("seed", 1);
  options.atmosphere.run = args.integer("run", 0);
  options.atmosphere.threads = 1;  // the loader's readers make different frames at the same time
  std::vector<std::string> all;
  for (const worlds::ChannelInfo& channel : worlds::channels) all.emplace_back(channel.name);
  const std::vector<int> channels = numbers_of(args.texts("channels", all));
  const std::int64_t labels = args.integer("labels", 0);
  const double max_gigabytes = args.real("max_gigabytes", 4);
  args.require(count > 0 && count <= 100'000'000, "count is 1 to 100,000,000");
  args.require(!channels.empty(), "at least one channel");
  args.require(labels == 0 || labels == 1, "labels is 0, the usual rules, or 1, the relaxed ones");
  args.require(max_gigabytes >= 0, "max_gigabytes >= 0");
  return std::make_unique<AtmosphereDataset>(options, count, channels, labels, max_gigabytes);
}

}  // namespace

extern const DatasetRow atmosphere;
const DatasetRow atmosphere{"atmosphere", "climate states made on the fly, with cyclones and rivers labelled",
                            make_atmosphere};

}  // namespace isobar::datasets
