#include "isobar/tensor/tensor.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar {

namespace {
constexpr std::size_t huge_page = std::size_t{2} << 20;
}

Block::Block(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  const std::size_t alignment = bytes >= huge_page ? huge_page : 64;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (rounded >= bytes)  // absurd sizes, such as those of negative extents, wrap around
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
  if (!data_) fail("memory: {} could not be allocated", human_bytes(bytes));
  if (alignment == huge_page) madvise(data_.get(), rounded, MADV_HUGEPAGE);  // only a hint: failure is no error
}

void Block::Free::operator()(std::byte* p) const { std::free(p); }

Tensor::Tensor(Shape shape) : shape_(std::move(shape)), owned_(shape_.count() * sizeof(float)) {
  data_ = reinterpret_cast<float*>(owned_.data());
  if (data_) std::memset(data_, 0, owned_.size());
}

std::span<float> Tensor::row(std::int64_t index) const {
  expects(index >= 0 && index < shape_[0], "a row of the tensor");
  const std::int64_t length = shape_.count(1, shape_.rank());
  return std::span(data_ + index * length, length);
}

}  // namespace isobar
