// noise(shape=[...], targets=4, count=64, seed=1): synthetic numbers for tests and benchmarks, x in (0, 1] and y, of
// the shape `targets`, in [-1, 1]; `tokens` or `classes` above 0 make x or y integers below that. One pool of noise of
// a sample's size is drawn once; sample i is the pool rotated by a random offset, so reading costs a copy, as from a
// warm file, and memory is one sample for any count. Samples therefore differ but are not independent.
#include <algorithm>
#include <string>

#include "isobar/base/random.hpp"
#include "isobar/datasets/dataset.hpp"

namespace isobar::datasets {
namespace {

class Noise final : public Dataset {
 public:
  Noise(Shape shape, Shape targets, std::int64_t tokens, std::int64_t classes, std::int64_t count, std::uint64_t seed)
      : shape_(std::move(shape)), targets_(std::move(targets)), classes_(classes), count_(count), random_(seed) {
    const Random pool = random_.sub(0);
    pool_.resize(shape_.count());
    for (std::size_t i = 0; i < pool_.size(); i += 4) {
      const auto block = pool.block(i);
      for (std::size_t k = 0; k < 4 && i + k < pool_.size(); ++k) pool_[i + k] = unit_float(block[k]);
    }
    for (std::size_t i = 0; tokens > 0 && i < pool_.size(); ++i)
      pool_[i] = static_cast<float>(pool.sub(1).below(i, tokens));
  }

  std::int64_t size() const override { return count_; }
  std::vector<Field> fields() const override { return {{"x", shape_}, {"y", targets_}}; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    const std::uint64_t sample = index;
    const std::ptrdiff_t offset = random_.sub(1).below(sample, pool_.size());
    std::rotate_copy(pool_.begin(), pool_.begin() + offset, pool_.end(), out[0].begin());
    const Random targets = random_.sub(2).sub(sample);
    for (std::size_t t = 0; t < out[1].size(); ++t)
      out[1][t] = classes_ > 0 ? static_cast<float>(targets.below(t, classes_))
                               : static_cast<float>(2.0 * targets.uniform(t) - 1.0);
  }

  std::string where(std::int64_t index) const override { return fmt::format("noise sample {}", index); }

 private:
  Shape shape_, targets_;
  std::int64_t classes_, count_;
  Random random_;
  std::vector<float> pool_;
};

}  // namespace

extern const DatasetRow noise;
const DatasetRow noise{
    "noise", "random numbers with random targets, for tests and benchmarks",
    [](Args& args, Survey&) -> std::unique_ptr<Dataset> {
      const Shape shape(args.integers("shape", {32, 32, 32, 4})), targets(args.integers("targets", {4}));
      const std::int64_t tokens = args.integer("tokens", 0), classes = args.integer("classes", 0);
      const std::int64_t count = args.integer("count", 64), seed = args.integer("seed", 1);
      const auto is_sound = [](const Shape& s) {
        return s.rank() > 0 && std::ranges::all_of(s.extents(), [](auto n) { return n > 0; });
      };
      args.require(is_sound(shape), "a shape of extents above 0");
      args.require(is_sound(targets), "targets > 0");
      args.require(tokens >= 0 && classes >= 0, "tokens and classes >= 0");
      args.require(count > 0, "count > 0");
      return std::make_unique<Noise>(shape, targets, tokens, classes, count, seed);
    }};

}  // namespace isobar::datasets
