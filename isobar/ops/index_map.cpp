#include "isobar/ops/index_map.hpp"

#include <algorithm>

#include "isobar/base/loops.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;
using Sources = std::vector<std::int64_t>;

bool is_identity(const Sources& sources, std::int64_t extent) {
  if (std::ssize(sources) != extent) return false;
  for (std::int64_t i = 0; i < extent; ++i)
    if (sources[i] != i) return false;
  return true;
}

std::vector<Sources> inverted(const Sources& sources, std::int64_t extent) {
  std::vector<Sources> pickers(extent);
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (sources[i] >= 0) pickers[sources[i]].push_back(i);
  return pickers;
}

}  // namespace

Reach picked_reach(int axis, const std::vector<std::int64_t>& sources) {
  Reach reach{{{axis, {}}}};
  for (const std::int64_t s : sources) reach.in[0].window.push_back(s < 0 ? Interval() : Interval{s, s + 1});
  return reach;
}

IndexMap::IndexMap(Shape x, std::vector<Sources> sources) : x_(std::move(x)), sources_(std::move(sources)) {
  std::vector<std::int64_t> extents;
  for (const Sources& s : sources_) extents.push_back(std::ssize(s));
  y_ = Shape(extents);
  // A row is the last axis that picks, together with all axes after it.
  std::int64_t behind = 1;
  int axis = x_.rank() - 1;
  while (axis > 0 && is_identity(sources_[axis], x_[axis])) behind *= x_[axis--];
  const Sources last = axis < 0 ? Sources{0} : sources_[axis];
  for (std::int64_t i = 0; i < std::ssize(last); ++i) {
    const std::int64_t to = i * behind, from = last[i] < 0 ? -1 : last[i] * behind;
    const bool continues = !pieces_.empty() &&
                           (from < 0 ? pieces_.back().from < 0
                                     : pieces_.back().from >= 0 && pieces_.back().from + pieces_.back().length == from);
    if (continues) pieces_.back().length += behind;
    else pieces_.push_back({to, from, behind});
  }
  x_row_ = x_.count(std::max(axis, 0), x_.rank());
  y_row_ = y_.count(std::max(axis, 0), y_.rank());
  sources_.resize(std::max(axis, 0));
  for (std::size_t a = 0; a < sources_.size(); ++a) pickers_.push_back(inverted(sources_[a], x_[a]));
}

void IndexMap::pick(const float* x, float* y, float fill) const {
  const std::int64_t rows = y_.count() / y_row_;
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      std::int64_t from = 0, left = r, stride = 1;
      for (std::size_t a = sources_.size(); a-- > 0 && from >= 0;) {
        const auto extent = std::ssize(sources_[a]);
        const std::int64_t source = sources_[a][left % extent];
        from = source < 0 ? -1 : from + source * stride;
        left /= extent;
        stride *= x_[a];
      }
      float* row = y + r * y_row_;
      if (from < 0) {
        std::fill_n(row, y_row_, fill);
        continue;
      }
      for (const Piece& p : pieces_) {
        if (p.from < 0) std::fill_n(row + p.to, p.length, fill);
        else std::copy_n(x + from * x_row_ + p.from, p.length, row + p.to);
      }
    }
  };
  in_parts(rows, part, std::max<std::int64_t>(1, loop_part / y_row_));
}

void IndexMap::scatter(const float* dy, float* dx) const {
  const std::int64_t rows = x_.count() / x_row_;
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> from, next;
    for (std::int64_t r = begin; r < end; ++r) {
      from.assign(1, 0);
      std::int64_t left = x_.count() / x_row_, number = r;
      for (std::size_t a = 0; a < pickers_.size(); ++a) {
        left /= x_[a];
        next.clear();
        for (const std::int64_t before : from)
          for (const std::int64_t i : pickers_[a][number / left]) next.push_back(before * y_[a] + i);
        number %= left;
        from.swap(next);
      }
      float* row = dx + r * x_row_;
      std::fill_n(row, x_row_, 0.0f);
      for (const std::int64_t y_row : from)
        for (const Piece& p : pieces_) {
          const float* gradient = dy + y_row * y_row_ + p.to;
          for (std::int64_t i = 0; p.from >= 0 && i < p.length; ++i) row[p.from + i] += gradient[i];
        }
    }
  };
  in_parts(rows, part, std::max<std::int64_t>(1, loop_part / x_row_));
}

Kernel IndexMap::forward(float fill) const {
  return {"forward",
          Category::copy,
          {{{Kind::x, 0}, plain(x_)}},
          {{{Kind::y, 0}, plain(y_)}},
          0,
          [map = *this, fill](const Moment&, std::span<const dnnl::memory> m) {
            map.pick(floats(m[0]), floats(m[1]), fill);
          }};
}

std::vector<Kernel> IndexMap::backward(bool needs_gradient) const {
  if (!needs_gradient) return {};
  return {{"backward",
           Category::copy,
           {{{Kind::dy, 0}, plain(y_)}},
           {{{Kind::dx, 0}, plain(x_)}},
           0,
           [map = *this](const Moment&, std::span<const dnnl::memory> m) { map.scatter(floats(m[0]), floats(m[1])); }}};
}

}  // namespace isobar::ops
