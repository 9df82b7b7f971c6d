// spatial: every rank of a replica has a slab of each sample. Convolutional layers read their neighbours' rows where
// windows reach over the edge; where a layer needs the whole axis, or the axis is shorter than there are ranks, its
// input is gathered, and every rank computes the rest for its share of the loss.
#include <array>
#include <numeric>

#include "isobar/split/cut_graph.hpp"

namespace isobar::split {
namespace {

struct Axis {
  const char* name;
  int from_end;  // of a channels-last shape
};
constexpr std::array axes{Axis{"depth", 4}, Axis{"height", 3}, Axis{"width", 2}};

class Spatial final : public Split {
 public:
  explicit Spatial(Args& args) {
    int cut = 0;
    for (const Axis& axis : axes) {
      const std::int64_t ways = args.integer(axis.name, 1);
      args.require(ways >= 1, "depth, height and width must be at least 1");
      if (ways == 1) continue;
      ++cut;
      axis_ = &axis;
      ways_ = static_cast<int>(ways);
    }
    args.finish();  // a misspelt axis says more than a missing one
    args.require(cut == 1, "one of depth, height and width must say over how many ranks it is cut");
  }

  int ways() const override { return ways_; }

  ModelPart cut(graph::Graph whole, int rank) const override {
    const CutPlan plan(whole, ways_, axis_->from_end);
    if (!plan.any())
      fail_usage(
          "split 'spatial({}={})': the network has no layer that can be cut so; none computes its {} row by row, "
          "or it is shorter than {}",
          axis_->name, ways_, axis_->name, ways_);
    ModelPart part = cut_graph(whole, plan, rank);
    for (const graph::ValueId id : whole.values().ids())
      if (!plan.read[id].empty() && part.text.empty()) {
        const std::int64_t extent = whole.value(id).shape[plan.axis[id]];
        const ops::Interval rows = dealt(extent, ways_, rank);
        part.text = fmt::format("{} {}-{} of {}", axis_->name, rows.begin, rows.end - 1, extent);
      }
    return part;
  }

 private:
  const Axis* axis_ = nullptr;
  int ways_ = 1;
};

}  // namespace

extern const Row<Split> spatial{"spatial", "slabs of every sample: depth, height or width over so many ranks",
                                make_member<Spatial>};

}  // namespace isobar::split
