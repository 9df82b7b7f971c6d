// none: every rank has a whole model.
#include "isobar/split/split.hpp"

namespace isobar::split {
namespace {

class None final : public Split {
 public:
  int ways() const override { return 1; }
  ModelPart cut(graph::Graph whole, int) const override { return {std::move(whole), "whole"}; }
};

}  // namespace

extern const Row<Split> none{"none", "every rank has a whole model", make_member<None>};

}  // namespace isobar::split
