#include "isobar/comm/crew.hpp"

namespace isobar::comm {
namespace {

class FixedCrew final : public Crew {
 public:
  explicit FixedCrew(Comm& world) : world_(world) {}

  std::unique_ptr<Comm> muster(const std::function<int(int available)>&) override {
    if (mustered_) return nullptr;
    mustered_ = true;
    return duplicate(world_);
  }
  [[noreturn]] void give_up(const std::string& why) override {
    world_.abort(why);
    throw Aborted(why);
  }
  bool elastic() const override { return false; }

 private:
  Comm& world_;
  bool mustered_ = false;
};

}  // namespace

std::unique_ptr<Crew> fixed_crew(Comm& world) { return std::make_unique<FixedCrew>(world); }

}  // namespace isobar::comm
