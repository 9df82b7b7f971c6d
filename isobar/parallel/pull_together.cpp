// Rule of a server: it keeps a centre that workers and their weights pull at (elastic averaging, Zhang et al. 2015). No
// optimizer has a part in it; workers train by themselves meanwhile.
#include "isobar/parallel/server_rule.hpp"

namespace isobar::parallel {
namespace {

class PullTogether final : public ServerRule {
 public:
  explicit PullTogether(double moving) : moving_(moving) {}

  void begin(ServedModel& model) override {
    model_ = &model;
    rooms_.resize(model.workers());
    share_ = static_cast<float>(moving_ / model.workers());
  }
  std::span<float> room(int worker) override {
    if (!rooms_[worker]) rooms_[worker] = model_->memory(model_->kept().trained());
    return rooms_[worker]->mine();
  }
  void take(const Push& push) override {
    model_->update_by(4.0 * static_cast<double>(push.numbers.size_bytes()), [&] {
      model_->kept().each_trained(push.numbers, [&](std::size_t, std::span<float> centre, std::span<float> theirs) {
        for (std::size_t i = 0; i < centre.size(); ++i) {
          const float way = share_ * (theirs[i] - centre[i]);
          theirs[i] -= way;
          centre[i] += way;
        }
      });
    });
  }
  std::span<const float> answer(int worker) override { return room(worker); }
  std::size_t copies(int workers) const override { return workers; }

 private:
  const double moving_;
  float share_ = 0;
  ServedModel* model_ = nullptr;
  std::vector<std::unique_ptr<comm::GradientMemory>> rooms_;
};

}  // namespace

std::unique_ptr<ServerRule> pull_together(double moving) { return std::make_unique<PullTogether>(moving); }

}  // namespace isobar::parallel
