#include "isobar/bench/serving.hpp"

#include <cstring>
#include <sys/resource.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/bench/forward_pass.hpp"
#include "isobar/bench/kernel_profile.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"

namespace isobar::bench {
namespace {

enum class Ask : int { steps, forward, profile, memory, exchange, messages, end };

struct Question {
  Ask ask = Ask::end;
  int count = 0;
};

Question read_question(std::FILE* in) {
  char line[64];
  if (!std::fgets(line, sizeof line, in)) return {};
  int count = 0;
  if (std::sscanf(line, "step %d", &count) == 1 && count > 0) return {Ask::steps, count};
  if (std::sscanf(line, "forward %d", &count) == 1 && count > 0) return {Ask::forward, count};
  if (std::sscanf(line, "profile %d", &count) == 1 && count > 0) return {Ask::profile, count};
  if (std::strncmp(line, "memory", 6) == 0) return {Ask::memory};
  if (std::strncmp(line, "exchange", 8) == 0) return {Ask::exchange};
  if (std::strncmp(line, "messages", 8) == 0) return {Ask::messages};
  fail("bench: '{}' is none of 'step N', 'forward N', 'profile N', 'memory', 'exchange' and 'messages'", line);
}

// Rank 0 reads a question and sends it to all.
Question next_question(comm::Comm& world, std::FILE* in) {
  comm::Bytes bytes(sizeof(Question));
  if (world.rank() == 0) {
    const Question read = read_question(in);
    std::memcpy(bytes.data(), &read, sizeof read);
  }
  comm::broadcast(world, bytes);
  Question heard;
  std::memcpy(&heard, bytes.data(), sizeof heard);
  return heard;
}

std::string answer_steps(TrainingStep& step, comm::Comm& world, int count) {
  std::string text;
  if (world.size() == 1) {
    for (int i = 0; i < count; ++i) text += fmt::format("{}{:.9f}", i ? " " : "", step.run());
    return text;
  }
  comm::barrier(world);
  const double begin = now_seconds();
  for (int i = 0; i < count; ++i) step.run();
  const double each = comm::all_largest(world, now_seconds() - begin) / count;
  for (int i = 0; i < count; ++i) text += fmt::format("{}{:.9f}", i ? " " : "", each);
  return text;
}

std::string answer_forward(const Serving& what, std::unique_ptr<ForwardPass>& pass, int count) {
  if (!pass) pass = std::make_unique<ForwardPass>(what.model, what.batch);
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}{:.9f}", i ? " " : "", pass->run());
  return text;
}

// What has been added to a cost, which is then remembered.
std::string cost_since(comm::ExchangeCost& before, const comm::ExchangeCost& now) {
  const comm::ExchangeCost then = std::exchange(before, now);
  return fmt::format("{:.9f} {:.9f} {} {}", now.waited_seconds - then.waited_seconds,
                     now.busy_seconds - then.busy_seconds, now.sums - then.sums,
                     now.traffic.bytes - then.traffic.bytes);
}

}  // namespace

void serve_steps(const Serving& what, std::FILE* in, std::FILE* out) {
  const auto nobody = comm::alone();
  comm::Comm& world = what.world ? *what.world : *nobody;
  TrainingStep step(what.model, what.batch, what.optimizer, {}, what.company);
  const auto say = [&](const std::string& text) {
    if (world.rank() != 0) return;
    fmt::print(out, "{}\n", text);
    std::fflush(out);
  };
  say("ready isobar " + step.strategy().describe());
  comm::ExchangeCost sums, messages;  // at the last such question
  std::unique_ptr<ForwardPass> pass;
  while (true) {
    const Question question = next_question(world, in);
    if (question.ask == Ask::end) return;
    if (question.ask == Ask::steps) say(answer_steps(step, world, question.count));
    if (question.ask == Ask::forward) say(answer_forward(what, pass, question.count));
    if (question.ask == Ask::profile) say(profile_line(profile_steps(step, question.count)));
    if (question.ask == Ask::memory) {
      rusage usage{};
      getrusage(RUSAGE_SELF, &usage);
      say(std::to_string(usage.ru_maxrss * 1024L));
    }
    if (question.ask == Ask::exchange) say(cost_since(sums, step.strategy().cost()));
    if (question.ask == Ask::messages) say(cost_since(messages, step.executor().message_cost()));
  }
}

}  // namespace isobar::bench
