#include "isobar/ops/reduction.hpp"

namespace isobar::ops {

Reduction::Reduction(const Shape& x, const std::vector<bool>& reduced) {
  std::int64_t stride = 1;
  std::vector<std::pair<bool, Axis>> axes;  // from the last to the first, with neighbours of the same kind merged
  for (int axis = x.rank(); axis-- > 0;) {
    const bool fold = reduced[axis];
    (fold ? folded_ : outputs_) *= x[axis];
    if (x[axis] == 1) continue;
    if (!axes.empty() && axes.back().first == fold) axes.back().second.extent *= x[axis];
    else axes.push_back({fold, {x[axis], stride}});
    stride *= x[axis];
  }
  if (axes.empty()) return;
  inner_kept_ = !axes[0].first;
  run_ = axes[0].second.extent;
  for (std::size_t i = axes.size(); i-- > 1;) (axes[i].first ? folds_ : kept_).push_back(axes[i].second);
}

}  // namespace isobar::ops
