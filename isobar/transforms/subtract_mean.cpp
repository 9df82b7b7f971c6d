// subtract_mean(values=[]): x minus the mean of the training set, number by number: the mean image of Caffe, learned
// once at the beginning of a run and kept in its folder. With values it is one given number for each channel instead.
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

// Samples are summed in this many parts, each in order, and then the parts in order: the same bits for any number of
// threads.
constexpr std::int64_t parts = 16;

class SubtractMean final : public Transform {
 public:
  explicit SubtractMean(const std::vector<double>& values) {
    for (const double value : values) values_.push_back(static_cast<float>(value));
  }

  Grid infer(Grid field) const override {
    if (!values_.empty() && field.shape[-1] != std::ssize(values_))
      fail("transform 'subtract_mean': '{}' is {} with {} channels, but {} values are given", field.name,
           field.shape.str(), field.shape[-1], values_.size());
    return field;
  }

  std::optional<Box> source(const Grid&, const Box& part, const Draw*) const override { return part; }
  void apply(const Portion& at, std::span<const float>, std::span<float> out, const Draw&) const override {
    if (!values_.empty()) {
      const std::size_t channels = at.to.shape[-1];
      const float* const value = values_.data() + at.to.begin.back();
      for (std::size_t first = 0; first < out.size(); first += channels)
        for (std::size_t c = 0; c < channels; ++c) out[first + c] -= value[c];
      return;
    }
    expects(!mean_.empty(), "a mean image that was learned");
    if (std::ssize(mean_) != at.field.shape.count())
      fail("transform 'subtract_mean': '{}' is {}, but the mean image has {} numbers: training and test differ in size",
           at.field.name, at.field.shape.str(), mean_.size());
    const Indices part = at.to.shape.extents();
    for_each_run(part, at.field.shape.extents(), at.to.begin, part, IndexArray(part.size()),
                 [&](std::int64_t source, std::int64_t target, std::int64_t count) {
                   const float* const mean = mean_.data() + source;
                   float* const number = out.data() + target;
                   for (std::int64_t i = 0; i < count; ++i) number[i] -= mean[i];
                 });
  }

  std::vector<float>* learned() override { return values_.empty() ? &mean_ : nullptr; }

  void learn(const datasets::Dataset& before, std::size_t field, int threads) override {
    std::vector<std::vector<double>> sums(parts);
    std::atomic<std::int64_t> next = 0;
    std::mutex guard;
    std::exception_ptr error;
    const auto work = [&] {
      try {
        for (std::int64_t part = next++; part < parts; part = next++) sums[part] = sum_of(before, field, part);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (!error) error = std::current_exception();
        next = parts;
      }
    };
    {
      std::vector<std::jthread> others;
      for (int t = 1; t < threads; ++t) others.emplace_back(work);
      work();
    }
    if (error) std::rethrow_exception(error);
    mean_.resize(sums[0].size());
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      double sum = 0;
      for (const auto& part : sums) sum += part[i];
      mean_[i] = static_cast<float>(sum / static_cast<double>(before.size()));
    }
  }

 private:
  static std::vector<double> sum_of(const datasets::Dataset& dataset, std::size_t f, std::int64_t part) {
    std::vector<std::vector<float>> memory;
    for (const datasets::Field& field : dataset.fields()) memory.emplace_back(field.shape.count());
    const std::vector<std::span<float>> out(memory.begin(), memory.end());
    std::vector<double> sum(memory[f].size());
    const std::int64_t last = dataset.size() * (part + 1) / parts;
    for (std::int64_t s = dataset.size() * part / parts; s < last; ++s) {
      try {
        dataset.read(s, out);
      } catch (const Error& problem) {
        fail("reading {} for the mean: {}", dataset.where(s), problem.what());
      }
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += double{out[f][i]};
    }
    return sum;
  }

  std::vector<float> values_, mean_;
};

}  // namespace

extern const Row<Transform> subtract_mean;
const Row<Transform> subtract_mean{
    "subtract_mean", "minus the mean image of the training set, or given channel values",
    [](Args& args) -> std::unique_ptr<Transform> { return std::make_unique<SubtractMean>(args.reals("values", {})); }};

}  // namespace isobar::transforms
