// Buckets: the gradients cut into ranges that travel together. Gradients lie in memory in the order they become final,
// so a bucket is a range of it, without copies, and is due when its last gradient is final.
#pragma once

#include <vector>

#include "isobar/comm/schedule.hpp"
#include "isobar/parallel/replica.hpp"

namespace isobar::parallel {

/// Parameters [first, last) and the range of all gradients that holds theirs and nobody else's.
struct Bucket {
  int first = 0, last = 0;
  comm::Range range;
};

class Buckets {
 public:
  /// Of all gradients together; cuts after the parameter with which a bucket reaches so many numbers (0: after each);
  /// parameters that are not trained are in none.
  Buckets(std::span<const exec::GradientPlace> places, std::size_t gradients, std::size_t numbers);

  int count() const { return static_cast<int>(buckets_.size()); }
  const Bucket& operator[](int b) const { return buckets_[static_cast<std::size_t>(b)]; }
  std::span<const Bucket> all() const { return buckets_; }
  /// Where the numbers lie that have no gradient: as few ranges as possible.
  const std::vector<comm::Range>& untrained() const { return untrained_; }

  /// A backward pass begins: no gradient is final.
  void begin();
  /// Gradient p is final. Returns the bucket that is due with it, or -1.
  int final(int p);
  /// The buckets that are not due yet, in order; afterwards all are.
  std::vector<int> rest();

 private:
  std::vector<Bucket> buckets_;
  std::vector<comm::Range> untrained_;
  std::vector<int> bucket_of_;  // by parameter; -1: none
  std::vector<int> missing_;    // by bucket: gradients that are not final yet
};

}  // namespace isobar::parallel
