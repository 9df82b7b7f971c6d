// universe(size=32, mesh=64, count=64, first=0, ...): dark-matter cubes generated when they are first read, then kept.
// x: particle counts, [size, size, size, redshifts], as ln(x + 1) unless log=false; y: Omega_m, sigma_8, n_s and H_0 in
// [-1, 1]. A cell counts merge^3 cells of the mesh, and as many particles on average; a universe gives (mesh / merge /
// size)^3 samples. Memory: 2 bytes per number, size^3 x redshifts numbers per sample. Training and test sets with one
// seed use different universes (`first`).
#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <string>

#include "isobar/datasets/counts.hpp"
#include "isobar/datasets/dataset.hpp"
#include "isobar/datasets/universe_cubes.hpp"

namespace isobar::datasets {
namespace {

class UniverseDataset final : public Dataset {
 public:
  UniverseDataset(const worlds::UniverseOptions& options, int size, int merge, std::int64_t count, std::int64_t first,
                  CountScaling scaling)
      : cubes_(options, size, merge),
        count_(count),
        first_(first),
        scaling_(scaling),
        kept_((count + cubes_.parts() - 1) / cubes_.parts()) {}

  std::int64_t size() const override { return count_; }
  std::vector<Field> fields() const override { return {{"x", cubes_.shape()}, {"y", Shape{4}}}; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    const std::int64_t universe = index / cubes_.parts(), part = index % cubes_.parts();
    const std::span<const std::int16_t> all = made(universe);
    expand_counts(all.subspan(part * out[0].size(), out[0].size()), scaling_, out[0]);
    std::ranges::copy(cubes_.family().targets(first_ + universe), out[1].begin());
  }

  std::string where(std::int64_t index) const override {
    return fmt::format("universe {} cube {}", first_ + index / cubes_.parts(), index % cubes_.parts());
  }

 private:
  struct Kept {
    std::mutex making;
    std::atomic<bool> ready = false;
    std::vector<std::int16_t> cubes;
  };

  // The first thread that needs a universe makes it; others wait for it, or make another one that they need.
  std::span<const std::int16_t> made(std::int64_t universe) const {
    Kept& kept = kept_[universe];
    if (!kept.ready.load(std::memory_order_acquire)) {
      const std::lock_guard lock(kept.making);
      if (!kept.ready.load(std::memory_order_relaxed)) {
        kept.cubes.resize(cubes_.count());
        cubes_.make(first_ + universe, kept.cubes);
        kept.ready.store(true, std::memory_order_release);
      }
    }
    return kept.cubes;
  }

  UniverseCubes cubes_;
  std::int64_t count_, first_;
  CountScaling scaling_;
  mutable std::vector<Kept> kept_;
};

int small(Args& args, std::string_view key, int otherwise) {
  const std::int64_t value = args.integer(key, otherwise);
  args.require(value >= 1 && value <= std::numeric_limits<int>::max(), fmt::format("{} is a number of cells", key));
  return value;
}

std::unique_ptr<Dataset> make_universe(Args& args, Survey&) {
  worlds::UniverseOptions options;
  const int size = small(args, "size", 32);
  options.mesh = small(args, "mesh", options.mesh);
  const int merge = small(args, "merge", 1);
  options.cell = args.real("cell", options.cell);
  options.scale_with_h0 = args.flag("scale_with_h0", options.scale_with_h0);
  options.redshifts = args.reals("redshifts", options.redshifts);
  options.spread = args.real("spread", options.spread);
  options.seed = args.integer("seed", 1);
  options.threads = 1;  // the loader's readers make different universes at the same time
  const std::int64_t count = args.integer("count", 64), first = args.integer("first", 0);
  const CountScaling scaling = args.flag("log", true) ? CountScaling::log : CountScaling::none;
  args.require(count > 0, "count > 0");
  args.require(first >= 0, "first >= 0");
  return std::make_unique<UniverseDataset>(options, size, merge, count, first, scaling);
}

}  // namespace

extern const DatasetRow universe;
const DatasetRow universe{"universe", "dark-matter volumes made on the fly, with the parameters that shaped them",
                          make_universe};

}  // namespace isobar::datasets
