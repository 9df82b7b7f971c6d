#include "isobar/worlds/deposit.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "isobar/base/error.hpp"

namespace isobar::worlds {
namespace {

// The planes [begin, end) of the volume that one thread fills, and its buffer for the positions of one row of
// particles.
struct Slab {
  int begin, end;
  std::vector<float> x, y, z;

  bool owns(int plane) const { return plane >= begin && plane < end; }
};

class Depositor {
 public:
  Depositor(const Displacement& displacement, double box, std::span<const GrowthFactors> factors,
            std::span<float> volume)
      : displacement_(displacement),
        size_(displacement.first[0].size()),
        scale_(size_ / box),
        factors_(factors),
        volume_(volume) {}

  // How many planes the particles of a plane can move to either side.
  int reach(int threads) const {
    std::vector<float> farthest(size_, 0.0f);
    each_part(size_, threads, [&](int x) {
      float most = 0;
      for (const GrowthFactors& at : factors_) {
        const auto [d1, d2] = weights(at);
        for (int y = 0; y < size_; ++y) {
          const float *a = displacement_.first[0].row(x, y), *b = displacement_.second[0].row(x, y);
          for (int z = 0; z < size_; ++z) most = std::max(most, std::abs(d1 * a[z] + d2 * b[z]));
        }
      }
      farthest[x] = most;
    });
    const float most = *std::max_element(farthest.begin(), farthest.end());
    return static_cast<int>(std::min(most, static_cast<float>(size_))) + 2;
  }

  void fill(Slab& slab, int reach, Counting counting) const {
    const std::size_t plane = std::size_t(size_) * size_ * factors_.size();
    std::fill_n(volume_.begin() + slab.begin * plane, (slab.end - slab.begin) * plane, 0.f);
    // Planes in ascending order for every slab: the order of additions into a cell must not depend on the slab.
    for (int x = 0; x < size_; ++x) {
      const int after = (x - slab.begin + size_) % size_;  // planes from the slab's first to x
      const int width = slab.end - slab.begin;
      if (after >= width + reach && size_ - after > reach) continue;
      for (int y = 0; y < size_; ++y)
        for (std::size_t channel = 0; channel < factors_.size(); ++channel) {
          place(x, y, factors_[channel], slab);
          if (counting == Counting::histogram) count_whole(slab, channel);
          else count_clouds(slab, channel);
        }
    }
  }

 private:
  struct Weights {
    float first, second;
  };
  Weights weights(const GrowthFactors& at) const {
    return {static_cast<float>(at.first * scale_), static_cast<float>(at.second * scale_)};
  }

  // The positions of a row's particles, in units of cells.
  void place(int x, int y, const GrowthFactors& at, Slab& slab) const {
    const auto [d1, d2] = weights(at);
    const auto along = [&](int axis, float start, float step, std::vector<float>& out) {
      const float *a = displacement_.first[axis].row(x, y), *b = displacement_.second[axis].row(x, y);
      for (int z = 0; z < size_; ++z) out[z] = start + step * static_cast<float>(z) + d1 * a[z] + d2 * b[z];
    };
    along(0, static_cast<float>(x) + 0.5f, 0.0f, slab.x);
    along(1, static_cast<float>(y) + 0.5f, 0.0f, slab.y);
    along(2, 0.5f, 1.0f, slab.z);
  }

  int wrap(float place) const { return static_cast<int>(std::floor(place)) & (size_ - 1); }

  float& cell(int x, int y, int z, std::size_t channel) const {
    return volume_[((std::size_t(x) * size_ + y) * size_ + z) * factors_.size() + channel];
  }

  void count_whole(const Slab& slab, std::size_t channel) const {
    for (int i = 0; i < size_; ++i) {
      const int x = wrap(slab.x[i]);
      if (slab.owns(x)) cell(x, wrap(slab.y[i]), wrap(slab.z[i]), channel) += 1.0f;
    }
  }

  void count_clouds(const Slab& slab, std::size_t channel) const {
    for (int i = 0; i < size_; ++i) {
      // A cloud extends half a cell to either side of its centre.
      const float px = slab.x[i] - 0.5f, py = slab.y[i] - 0.5f, pz = slab.z[i] - 0.5f;
      const int x = wrap(px), y = wrap(py), z = wrap(pz);
      const float fx = px - std::floor(px), fy = py - std::floor(py), fz = pz - std::floor(pz);
      const int next_y = (y + 1) & (size_ - 1), next_z = (z + 1) & (size_ - 1);
      for (int side = 0; side < 2; ++side) {
        const int at = (x + side) & (size_ - 1);
        if (!slab.owns(at)) continue;
        const float wx = side ? fx : 1.0f - fx;
        cell(at, y, z, channel) += wx * (1.0f - fy) * (1.0f - fz);
        cell(at, y, next_z, channel) += wx * (1.0f - fy) * fz;
        cell(at, next_y, z, channel) += wx * fy * (1.0f - fz);
        cell(at, next_y, next_z, channel) += wx * fy * fz;
      }
    }
  }

  const Displacement& displacement_;
  int size_;
  double scale_;
  std::span<const GrowthFactors> factors_;
  std::span<float> volume_;
};

}  // namespace

void deposit(const Displacement& displacement, double box, std::span<const GrowthFactors> factors, Counting counting,
             int threads, std::span<float> volume) {
  const int size = displacement.first[0].size();
  expects(volume.size() == std::size_t(displacement.first[0].cells()) * factors.size(), "room for all counts");
  const Depositor depositor(displacement, box, factors, volume);
  const int reach = depositor.reach(threads);
  const int slabs = std::min(size, thread_count(threads));
  std::vector<Slab> parts;
  const std::vector<float> row(size);
  for (int i = 0; i < slabs; ++i) parts.push_back({size * i / slabs, size * (i + 1) / slabs, row, row, row});
  each_part(slabs, threads, [&](int i) { depositor.fill(parts[i], reach, counting); });
}

}  // namespace isobar::worlds
