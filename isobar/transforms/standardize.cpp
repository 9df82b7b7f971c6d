// standardize(mean=[...], std=[...]): (x - mean) / std for each channel, the last axis; one number serves all channels.
#include <algorithm>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

class Standardize final : public Transform {
 public:
  Standardize(std::vector<double> mean, std::vector<double> deviation) {
    const std::size_t channels = std::max(mean.size(), deviation.size());
    mean.resize(channels, mean.front());
    deviation.resize(channels, deviation.front());
    for (std::size_t c = 0; c < channels; ++c) {
      mean_.push_back(static_cast<float>(mean[c]));
      factor_.push_back(static_cast<float>(1 / deviation[c]));
    }
  }

  Grid infer(Grid field) const override {
    if (mean_.size() > 1 && field.shape[-1] != std::ssize(mean_))
      fail("transform 'standardize': '{}' is {} with {} channels, but {} numbers are given", field.name,
           field.shape.str(), field.shape[-1], mean_.size());
    return field;
  }

  std::optional<Box> source(const Grid&, const Box& part, const Draw*) const override { return part; }
  void apply(const Portion& at, std::span<const float>, std::span<float> out, const Draw&) const override {
    const bool single = mean_.size() == 1;
    const std::size_t channels = single ? 1 : at.to.shape[-1];
    const std::int64_t channel = single ? 0 : at.to.begin.back();
    const float *const mean = mean_.data() + channel, *const factor = factor_.data() + channel;
    for (std::size_t first = 0; first < out.size(); first += channels)
      for (std::size_t c = 0; c < channels; ++c) out[first + c] = (out[first + c] - mean[c]) * factor[c];
  }

 private:
  std::vector<float> mean_, factor_;
};

}  // namespace

extern const Row<Transform> standardize;
const Row<Transform> standardize{
    "standardize", "(x - mean) / std of each channel, with given numbers",
    [](Args& args) -> std::unique_ptr<Transform> {
      const std::vector<double> mean = args.reals("mean", {0}), deviation = args.reals("std", {1});
      args.require(!mean.empty() && !deviation.empty() &&
                       (mean.size() == deviation.size() || mean.size() == 1 || deviation.size() == 1),
                   "mean and std with a number for each channel, or one for all");
      args.require(std::ranges::all_of(deviation, [](double d) { return d > 0; }), "std above 0");
      return std::make_unique<Standardize>(mean, deviation);
    }};

}  // namespace isobar::transforms
