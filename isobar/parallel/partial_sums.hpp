// PartialSums: adds up the gradients of several micro-batches, in one of two orders. `running` adds each to what came
// before and keeps one copy. `balanced` adds neighbours, then pairs of neighbours, and so on: the sum of a power of two
// of items is then one half plus the other, whoever holds which half, and log2 of their number copies are kept.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace isobar::parallel {

class PartialSums {
 public:
  enum class Order { running, balanced };

  /// Of items of so many numbers; memory is taken when it is first needed, none for a single item.
  PartialSums(Order order, std::size_t numbers) : order_(order), numbers_(numbers) {}

  /// Adds numbers [offset, offset + part.size()) of an item. The parts of one item come in any order, but all of them
  /// before the next item. Of the last item `part` holds the sum afterwards; of others it is undefined.
  void add(std::size_t item, bool last, std::span<float> part, std::size_t offset);

  std::size_t bytes() const { return kept_.size() * numbers_ * sizeof(float); }

 private:
  Order order_;
  std::size_t numbers_;
  std::vector<std::vector<float>> kept_;
};

/// a = b, by all threads.
void copy_to(std::span<float> a, std::span<const float> b);

}  // namespace isobar::parallel
