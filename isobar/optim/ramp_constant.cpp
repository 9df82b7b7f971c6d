// No ramp: the recipe's batch throughout, or `factor` times that batch.
#include "isobar/optim/batch_ramp.hpp"

namespace isobar::optim {
namespace {

class ConstantRamp final : public BatchRamp {
 public:
  explicit ConstantRamp(Args& args) : factor_(args.integer("factor", 1)) {
    args.require(factor_ >= 1 && factor_ <= max_batch_factor, "factor must lie between 1 and 1048576");
  }
  std::int64_t factor(const Progress&) const override { return factor_; }
  std::int64_t largest() const override { return factor_; }

 private:
  std::int64_t factor_;
};

}  // namespace

extern const Row<BatchRamp> ramp_constant{"constant", "the same batch throughout", make_member<ConstantRamp>};

}  // namespace isobar::optim
