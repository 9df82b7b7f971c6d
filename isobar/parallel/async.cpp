// async: workers send their gradients to parameter servers, which apply each as it comes, and read new weights back.
// Nobody waits for another worker, so gradients are somewhat old: with W equal workers, W - 1 updates lie between
// reading the weights and applying the gradient. One worker is plain training.
#include "isobar/parallel/served_parts.hpp"

namespace isobar::parallel {
namespace {

constexpr std::int64_t longest_period = 1'000'000;

// Defaults as published: Zheng et al. 2017.
std::optional<Compensation> read_compensation(Args& args) {
  const std::string kind = args.one_of("compensate", "none", {"none", "constant", "adaptive"});
  if (kind == "none") return {};
  Compensation how{.adaptive = kind == "adaptive"};
  how.factor = args.real("factor", how.adaptive ? 2 : 0.04);
  args.require(how.factor >= 0, "factor, by which gradients are compensated, must not be negative");
  if (how.adaptive) how.memory = args.real("memory", 0.95);
  args.require(how.memory >= 0 && how.memory < 1, "memory, of the running mean of squares, must lie in [0, 1)");
  return how;
}

}  // namespace

Between read_async(Args& args) {
  const std::int64_t period = args.integer("period", 1);
  args.require(period >= 1 && period <= longest_period, "period must lie between 1 and 1000000 steps");
  const std::optional<Compensation> compensation = read_compensation(args);
  const bool aware = args.flag("aware", false);
  return {"async", comm::Pace::free,
          [=] { return compensation ? apply_compensated(*compensation, aware) : apply_at_once(aware); },
          [=](TeamLine& line) { return push_gradients(line, period); }};
}

extern const Row<Strategy> async;
const Row<Strategy> async{
    "async", "workers send gradients to parameter servers and read weights back, and wait for no other worker",
    [](Args& args) -> std::unique_ptr<Strategy> {
      const ServedOptions options = read_served_options(args);
      return serve_teams("async", 1, make(strategies(), "solo", "strategy"), read_async(args), options);
    }};

}  // namespace isobar::parallel
