// normalize(stats='stats.h5', kind=minmax, channels=[...]): normalises every channel by a statistics file, as made by
// `isobar data stats`: minmax maps [min, max] to [0, 1], symmetric to [-1, 1], standard is (x - mean) / std. channels
// says which of the file's channels x has, if not all. A constant channel becomes 0.
#include <algorithm>

#include "isobar/datasets/statistics.hpp"
#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

class Normalize final : public Transform {
 public:
  Normalize(std::string file, const std::string& kind, const std::vector<std::int64_t>& channels)
      : file_(std::move(file)) {
    const std::vector<datasets::ChannelStatistics> all = datasets::read_statistics(file_);
    const auto add = [&](const datasets::ChannelStatistics& of) {
      const bool standard = kind == "standard";
      const double width = standard ? of.deviation() : of.high - of.low;
      const double aim = kind == "symmetric" ? 2 : 1;
      factor_.push_back(static_cast<float>(width > 0 ? aim / width : 0));
      subtracted_.push_back(static_cast<float>(standard ? of.mean : of.low));
      added_.push_back(kind == "symmetric" && width > 0 ? -1.0f : 0.0f);
    };
    for (const std::int64_t number : channels) {
      if (number < 0 || number >= std::ssize(all))
        fail("transform 'normalize': {} has no channel {}; valid: 0 to {}", file_, number, all.size() - 1);
      add(all[number]);
    }
    if (channels.empty()) std::ranges::for_each(all, add);
  }

  Grid infer(Grid field) const override {
    if (field.shape.rank() < 1 || field.shape[-1] != std::ssize(factor_))
      fail(
          "transform 'normalize': '{}' is {} with {} channels, but {} gives numbers for {}; channels=[...] says which "
          "of "
          "them these are",
          field.name, field.shape.str(), field.shape.rank() < 1 ? 0 : field.shape[-1], file_, factor_.size());
    return field;
  }

  std::optional<Box> source(const Grid&, const Box& part, const Draw*) const override { return part; }
  void apply(const Portion& at, std::span<const float>, std::span<float> out, const Draw&) const override {
    const std::int64_t first = at.to.begin.back();
    const std::size_t channels = at.to.shape[-1];
    const float *subtracted = subtracted_.data() + first, *factor = factor_.data() + first;
    const float* const added = added_.data() + first;
    for (float* pixel = out.data(); pixel != out.data() + out.size(); pixel += channels)
      for (std::size_t c = 0; c < channels; ++c) pixel[c] = (pixel[c] - subtracted[c]) * factor[c] + added[c];
  }

 private:
  std::string file_;
  std::vector<float> subtracted_, factor_, added_;  // for every channel
};

}  // namespace

extern const Row<Transform> normalize;
const Row<Transform> normalize{
    "normalize", "every channel to [0, 1], [-1, 1] or mean 0 and deviation 1, by a statistics file",
    [](Args& args) -> std::unique_ptr<Transform> {
      const std::string kind = args.one_of("kind", "minmax", {"minmax", "standard", "symmetric"});
      const std::vector<std::int64_t> channels = args.integers("channels", {});
      return std::make_unique<Normalize>(args.text("stats"), kind, channels);
    }};

}  // namespace isobar::transforms
