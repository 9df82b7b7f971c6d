// noise(shape=[...], targets=4, count=64, seed=1): synthetic numbers for tests and benchmarks, x in (0, 1] and y in
// [-1, 1]. One pool of noise of a sample's size is drawn once; sample i is the pool rotated by a random offset, so
// reading costs a copy, as from a warm file, and the memory is one sample for any count. Samples therefore differ
// but are not independent.
#include <algorithm>
#include <string>

#include "isobar/base/random.hpp"
#include "isobar/data/dataset.hpp"

namespace isobar::data {
namespace {

class Noise final : public Dataset {
 public:
  Noise(Shape shape, std::int64_t targets, std::int64_t count, std::uint64_t seed)
      : shape_(std::move(shape)), targets_(targets), count_(count), random_(seed) {
    const Random pool = random_.sub(0);
    pool_.resize(static_cast<std::size_t>(shape_.count()));
    for (std::size_t i = 0; i < pool_.size(); i += 4) {
      const auto block = pool.block(i);
      for (std::size_t k = 0; k < 4 && i + k < pool_.size(); ++k) pool_[i + k] = unit_float(block[k]);
    }
  }

  std::int64_t size() const override { return count_; }
  std::vector<Field> fields() const override { return {{"x", shape_}, {"y", Shape{targets_}}}; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    const auto sample = static_cast<std::uint64_t>(index);
    const auto offset = static_cast<std::ptrdiff_t>(random_.sub(1).below(sample, pool_.size()));
    std::rotate_copy(pool_.begin(), pool_.begin() + offset, pool_.end(), out[0].begin());
    const Random targets = random_.sub(2).sub(sample);
    for (std::size_t t = 0; t < out[1].size(); ++t) out[1][t] = static_cast<float>(2.0 * targets.uniform(t) - 1.0);
  }

  std::string where(std::int64_t index) const override { return fmt::format("noise sample {}", index); }

 private:
  Shape shape_;
  std::int64_t targets_, count_;
  Random random_;
  std::vector<float> pool_;
};

}  // namespace

extern const Row<Dataset> noise;
const Row<Dataset> noise{"noise", "random numbers with random targets, for tests and benchmarks",
                         [](Args& args) -> std::unique_ptr<Dataset> {
                           const Shape shape(args.integers("shape", {32, 32, 32, 4}));
                           const std::int64_t targets = args.integer("targets", 4), count = args.integer("count", 64);
                           const std::int64_t seed = args.integer("seed", 1);
                           args.require(
                               shape.rank() > 0 && std::ranges::all_of(shape.extents(), [](auto n) { return n > 0; }),
                               "a shape of extents above 0");
                           args.require(targets > 0, "targets > 0");
                           args.require(count > 0, "count > 0");
                           return std::make_unique<Noise>(shape, targets, count, static_cast<std::uint64_t>(seed));
                         }};

}  // namespace isobar::data
