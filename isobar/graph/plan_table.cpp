// The table of a plan for display: step by step, then what it all adds up to.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isobar/base/text.hpp"
#include "isobar/graph/plan_messages.hpp"

namespace isobar::graph {
namespace {

std::string line(const auto&... cells) {
  const std::string text = fmt::format("{:>4}  {:<16} {:<21} {:<20} {:>11} {:>9} {:>9}", cells...);
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

// Messages have no shape, parameters or work: what is said of them takes these columns.
std::string talk_line(const Plan& plan, StepId s) {
  const PlanStep& step = plan.steps[s];
  return fmt::format("{:>4}  {:<16} {:<21} {}\n", s.number(), step.name, step.kernel, talk_text(plan, s));
}

std::int64_t weights_of(const Plan& plan, const PlanStep& step) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < step.reads; ++i) {
    const Buffer& b = plan.buffers[step.buffers[i]];
    if (b.home == Home::weight) count += plan.parameters[b.parameter].declared.shape.count();
  }
  return count;
}

std::string step_line(const Plan& plan, StepId s) {
  const PlanStep& step = plan.steps[s];
  if (step.talk) return talk_line(plan, s);
  const std::int64_t weights = plan.is_forward(s) ? weights_of(plan, step) : 0;
  const double work = step.flops + step.again_flops;
  return line(s.number(), step.name, step.kernel, plan.is_forward(s) ? step.shape.str() : "",
              weights ? with_commas(weights) : "", work > 0 ? human_flops(work) : "",
              step.bytes > 0 ? human_bytes(step.bytes) : "");
}

std::string sent(const comm::Traffic& traffic) { return human_bytes(static_cast<double>(traffic.bytes)); }

std::string messages_line(const Plan& plan) {
  const std::vector<std::string> circles = plan.circles();
  if (circles.empty()) return "";
  const PassTraffic traffic = traffic_of(plan);
  return fmt::format("{} messages sent to others of {} in a pass: {} forward, {} backward\n", traffic.all().messages,
                     fmt::join(circles, ", "), sent(traffic.forward), sent(traffic.backward));
}

}  // namespace

std::string Plan::table() const {
  std::string text = line("step", "name", "kernel", "shape", "parameters", "FLOPs", "bytes");
  double forward = 0, moved = 0;
  for (const StepId s : steps.ids()) {
    if (s == StepId(forward_steps)) text += "\n";
    if (is_forward(s)) forward += steps[s].flops;
    if (!steps[s].talk) moved += steps[s].bytes;
    text += step_line(*this, s);
  }
  std::size_t apart = 0;
  for (const Buffer& b : buffers)
    if (!b.shares_with && (b.home == Home::arena || (gradients_in_arena && b.home == Home::gradient))) apart += b.bytes;
  text += fmt::format("\n{} parameters, {}\n", with_commas(parameter_count()), human_bytes(4.0 * parameter_count()));
  text +=
      fmt::format("{} forward, {} in all; {} moved\n", human_flops(forward), human_flops(flops()), human_bytes(moved));
  text += messages_line(*this);
  if (again_steps() > 0)
    text += fmt::format("{} steps computed again, {}: the arena would be {} otherwise\n", again_steps(),
                        human_flops(again_flops()), human_bytes(kept_arena_bytes));
  text += fmt::format("arena {}{}; without sharing, values would need {}\n", human_bytes(arena_bytes),
                      gradients_in_arena ? " with gradients" : "", human_bytes(apart));
  text += fmt::format("fingerprint {:016x}\n", fingerprint());
  return text;
}

}  // namespace isobar::graph
