// PhantomFloats: memory of any length whose pages are all the same few: what is written is lost, what is read is
// something. Gradients of a simulation lie in it, which nobody looks at.
#pragma once

#include <cstddef>
#include <span>

namespace isobar::sim {

class PhantomFloats {
 public:
  explicit PhantomFloats(std::size_t floats);
  ~PhantomFloats();
  PhantomFloats(const PhantomFloats&) = delete;

  std::span<float> all() const { return {first_, count_}; }

 private:
  float* first_ = nullptr;
  std::size_t count_, bytes_ = 0;
};

}  // namespace isobar::sim
