#include "isobar/parallel/server_link.hpp"

#include <algorithm>

#include "isobar/comm/stall_watch.hpp"

namespace isobar::parallel {
namespace {

// Copies the first numbers to `to`, and leaves the others.
void take_from(std::span<const float>& numbers, std::span<float> to) {
  std::ranges::copy(numbers.first(to.size()), to.begin());
  numbers = numbers.subspan(to.size());
}

}  // namespace

void ServerLink::begin(const Replica& replica, std::vector<ServedParameter> parameters, std::int64_t updates,
                       bool with_slots) {
  with_slots_ = with_slots;
  lines_.resize(servers_);
  outgoing_.resize(parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (parameters[p].server >= 0) lines_[parameters[p].server].parameters.push_back(static_cast<int>(p));
  for (Line& line : lines_) {
    std::size_t statistics = 0;
    for (const int p : line.parameters) (replica[p].trained ? line.trained : statistics) += replica[p].weight.size();
    line.outgoing = comm::message_memory(world_, line.trained + statistics);
    line.incoming = comm::message_memory(world_, line.trained);
    line.version = updates;
    std::span<float> trained = line.outgoing->mine(), others = trained.subspan(line.trained);
    for (const int p : line.parameters) {
      std::span<float>& rest = replica[p].trained ? trained : others;
      outgoing_[p] = rest.first(replica[p].weight.size());
      rest = rest.subspan(replica[p].weight.size());
    }
  }
  updates_ = updates;
  if (!is_first()) return;
  for (std::size_t s = 0; s < lines_.size(); ++s) {
    const Question question{.kind = Question::Kind::begin, .version = updates, .parameters = std::ssize(parameters)};
    world_.send(rank_of(s), question_tag, std::as_bytes(std::span(&question, 1)));
    world_.send(rank_of(s), question_tag, std::as_bytes(std::span(parameters)));
    const auto give = [&](std::span<const float> numbers) {
      if (!numbers.empty()) world_.send(rank_of(s), question_tag, std::as_bytes(numbers));
    };
    for (const int p : lines_[s].parameters) {
      give(replica[p].weight);
      if (replica[p].trained && with_slots_)
        for (const std::span<float> slot : replica[p].slots) give(slot);
    }
  }
}

void ServerLink::put(Replica& replica, int p, std::span<const float> numbers) {
  if (!replica.pretends(2.0 * static_cast<double>(numbers.size_bytes())))
    std::ranges::copy(numbers, outgoing_[p].begin());
}

void ServerLink::put_statistics(Replica& replica) {
  for (const Line& line : lines_)
    for (const int p : line.parameters)
      if (!replica[p].trained) put(replica, p, replica[p].weight);
}

void ServerLink::exchange(Replica& replica, const optim::Step& step, double samples) {
  put_statistics(replica);
  const bool traced = replica.trace() && replica.trace()->is_traced();
  const double begin = now_seconds();
  ask({.kind = Question::Kind::push, .traced = traced, .samples = samples, .step = step});
  for (std::size_t s = 0; s < lines_.size(); ++s) {
    hear(s, std::as_writable_bytes(std::span(&lines_[s].answer, 1)));
    hear(s, std::as_writable_bytes(lines_[s].incoming->mine()));
  }
  note_answers();
  if (!replica.trace()) return;
  Trace& trace = replica.trace()->main();
  if (exchanging_.in_trace < 0) exchanging_.in_trace = trace.intern(exchanging_.name);
  double bytes = 0;
  for (const Line& line : lines_)
    bytes += static_cast<double>(line.outgoing->mine().size_bytes() + line.incoming->mine().size_bytes());
  trace.record({exchanging_.category, static_cast<std::uint32_t>(exchanging_.in_trace), step.index, begin,
                now_seconds() - begin, 0, bytes});
}

void ServerLink::take(Replica& replica) {
  for (const Line& line : lines_) {
    std::span<const float> rest = line.incoming->mine();
    if (replica.pretends(2.0 * static_cast<double>(rest.size_bytes()))) continue;
    for (const int p : line.parameters)
      if (replica[p].trained) take_from(rest, replica[p].weight);
  }
}

// Each server hears the question with the version of its own weights. What is trained and what is not are two messages;
// the latter alone belongs to questions that push nothing.
void ServerLink::ask(const Question& question) {
  const double begin = world_.now();
  std::vector<Question> questions(lines_.size(), question);
  std::vector<comm::Ticket> sending;
  for (std::size_t s = 0; s < lines_.size(); ++s) {
    questions[s].version = lines_[s].version;
    questions[s].stop = stop_;
    const auto send = [&](std::span<const std::byte> bytes) {
      if (!bytes.empty()) sending.push_back(world_.start_send(rank_of(s), question_tag, bytes));
    };
    send(std::as_bytes(std::span(&questions[s], 1)));
    const std::span<const float> numbers = lines_[s].outgoing->mine();
    if (question.kind == Question::Kind::push) send(std::as_bytes(numbers.first(lines_[s].trained)));
    send(std::as_bytes(numbers.subspan(lines_[s].trained)));
  }
  for (comm::Ticket& ticket : sending) ticket.wait();
  waited_seconds_ += world_.now() - begin;
}

// Patient: it may take as long as the other workers need. Otherwise a server that does not answer ends the job.
void ServerLink::hear(std::size_t server, std::span<std::byte> bytes, bool patient) {
  if (bytes.empty()) return;
  const double begin = world_.now();
  comm::Ticket answer = world_.start_receive(rank_of(server), answer_tag, bytes);
  if (patient) return answer.wait();
  const std::string what = "update by parameter servers";
  comm::StallWatch(world_, limits_, what).wait(answer, [&] { return std::vector{rank_of(server)}; });
  waited_seconds_ += world_.now() - begin;
}

void ServerLink::note_answers() {
  ++exchanges_;
  spoilt_ = -1;
  for (Line& line : lines_) {
    line.version = line.answer.version;
    updates_ = std::max(updates_, line.version);
    stop_ = stop_ || line.answer.stop;
    spoilt_ = std::max(spoilt_, line.answer.spoilt);
  }
}

void ServerLink::hear_state(Replica& replica, bool patient) {
  counts_ = {std::vector<WorkerCounts>(workers_), std::vector<ServerCounts>(servers_)};
  for (std::size_t s = 0; s < lines_.size(); ++s) {
    Line& line = lines_[s];
    hear(s, std::as_writable_bytes(std::span(&line.answer, 1)), patient);
    std::vector<std::span<float>> parts;
    for (const int p : line.parameters) {
      parts.push_back(replica[p].weight);
      if (replica[p].trained && with_slots_)
        parts.insert(parts.end(), replica[p].slots.begin(), replica[p].slots.end());
    }
    std::size_t total = 0;
    for (const std::span<float> part : parts) total += part.size();
    const auto numbers = comm::message_memory(world_, total);
    hear(s, std::as_writable_bytes(numbers->mine()), patient);
    std::span<const float> rest = numbers->mine();
    if (!replica.pretends(2.0 * static_cast<double>(rest.size_bytes())))
      for (const std::span<float> part : parts) take_from(rest, part);
    hear(s, std::as_writable_bytes(std::span(&counts_.servers[s], 1)), patient);
    std::vector<WorkerCounts> theirs(workers_);
    hear(s, std::as_writable_bytes(std::span(theirs)), patient);
    if (s == 0) counts_.workers = theirs;  // the others count the same, up to what is under way
  }
  note_answers();
}

void ServerLink::fetch(Replica& replica) {
  if (finished_) return;
  put_statistics(replica);
  ask({.kind = Question::Kind::state});
  hear_state(replica);
}

void ServerLink::finish(Replica& replica) {
  if (std::exchange(finished_, true)) return;
  put_statistics(replica);
  ask({.kind = Question::Kind::done});
  if (is_first()) return hear_state(replica, true);
  for (std::size_t s = 0; s < lines_.size(); ++s)
    hear(s, std::as_writable_bytes(std::span(&lines_[s].answer, 1)), true);
}

comm::ExchangeCost ServerLink::cost() const { return {waited_seconds_, waited_seconds_, exchanges_, world_.traffic()}; }

}  // namespace isobar::parallel
