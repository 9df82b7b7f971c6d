#include "isobar/parallel/parameter_server.hpp"

#include <algorithm>

#include "isobar/base/clock.hpp"
#include "isobar/base/text.hpp"

namespace isobar::parallel {

ParameterServer::ParameterServer(ServedModel::Crew& crew, const ServerSetting& setting, ServerRule& rule)
    : world_(crew.world),
      setting_(setting),
      rule_(rule),
      model_(crew, setting),
      workers_(crew.workers.size()),
      counts_(crew.workers.size()) {
  for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
    Worker& each = workers_[worker];
    each.rank = crew.workers[worker];
    each.names = {fmt::format("gradients of rank {}", each.rank), fmt::format("weights to rank {}", each.rank)};
    each.receiving.name = each.names[0];
    each.answering.name = each.names[1];
  }
}

void ParameterServer::serve() {
  begin();
  if (setting_.begun) setting_.begun(model_.updates());
  idle_since_ = now_seconds();
  begun_at_ = world_.now();
  inbox_ = comm::make_inbox(world_);
  const auto listen_to = [&](int worker) {
    listen(worker);
    inbox_->add(worker, workers_[worker].asked);
  };
  for (int worker = 0; worker < std::ssize(workers_); ++worker) listen_to(worker);
  for (std::size_t heard = workers_.size(); heard > 0;) {
    const int worker = inbox_->next();
    const double begin = world_.now();
    try {
      meet(worker);
    } catch (const comm::PeerDied&) {
      leaves(worker, true);
    }
    load_.busy_seconds += world_.now() - begin;
    answer_all_that_may(worker);
    if (!workers_[worker].working || workers_[worker].waits_for_end) --heard;
    else listen_to(worker);
  }
  end();
}

void ParameterServer::listen(int worker) {
  Worker& from = workers_[worker];
  from.asked = world_.start_receive(from.rank, question_tag, std::as_writable_bytes(std::span(&from.question, 1)));
}

void ParameterServer::receive(int worker, std::span<float> numbers) {
  if (!numbers.empty()) world_.receive(workers_[worker].rank, question_tag, std::as_writable_bytes(numbers));
}

void ParameterServer::receive_statistics(int worker) {
  Worker& from = workers_[worker];
  if (model_.kept().statistics() == 0) return;
  if (!from.statistics) from.statistics = model_.memory(model_.kept().statistics());
  receive(worker, from.statistics->mine());
}

// The first worker brings what the run begins with: new weights, or those of a checkpoint.
void ParameterServer::begin() {
  listen(0);
  workers_[0].asked.wait();
  const Question& first = workers_[0].question;
  expects(first.kind == Question::Kind::begin, "a first worker that begins");
  std::vector<ServedParameter> all(first.parameters), mine;
  std::vector<int> numbers;
  world_.receive(workers_[0].rank, question_tag, std::as_writable_bytes(std::span(all)));
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (all[p].server != model_.servers().rank()) continue;
    mine.push_back(all[p]);
    numbers.push_back(static_cast<int>(p));
  }
  model_.begin(mine, std::move(numbers), first.version);
  for (const std::span<float> part : model_.kept().state()) receive(0, part);
  rule_.begin(model_);
}

// What a worker that dies meanwhile has sent in part is not applied.
void ParameterServer::meet(int worker) {
  Worker& from = workers_[worker];
  from.asked.wait();
  for (comm::Ticket& ticket : from.under_way) ticket.wait();  // it has arrived, since the worker asks again
  from.state.reset();
  from.told.clear();
  if (from.question.stop || (setting_.stop && *setting_.stop)) stop_ = true;
  switch (from.question.kind) {
    case Question::Kind::push: take(worker); break;
    case Question::Kind::state:
      receive_statistics(worker);
      answer_state(worker);
      break;
    case Question::Kind::done:
      receive_statistics(worker);
      from.waits_for_end = true;
      return rule_.leaves(worker, false);
    case Question::Kind::begin: expects(false, "a run that begins once");
  }
}

// A step of the trace for each push.
void ParameterServer::take(int worker) {
  Worker& from = workers_[worker];
  const double begin = idle_since_;
  const std::int64_t push = ++load_.pushes;
  if (setting_.trace) setting_.trace->begin_step(push, begin, from.question.traced && setting_.traced);
  const std::span<float> room = rule_.room(worker);
  const double bytes = static_cast<double>(room.size_bytes()) + sizeof(float) * model_.kept().statistics();
  model_.recorded(from.receiving, bytes, [&] {
    receive(worker, room);
    receive_statistics(worker);
  });
  const std::int64_t age = model_.updates() - from.question.version;
  counts_[worker].ages.add(age);
  world_.note(fmt::format("update {} with what rank {} has sent", model_.updates() + 1, from.rank));
  from.waits_since = world_.now();
  waiting_.push_back(worker);
  rule_.take({worker, room, from.question.step, age, from.question.samples});
  answer_all_that_may(worker);
  idle_since_ = now_seconds();
  if (!setting_.trace) return;
  const std::span<const Event> events = setting_.trace->end_step(idle_since_);
  if (!events.empty()) setting_.traced(push, begin, idle_since_ - begin, events);
}

// Some may have waited until this worker had pushed, or until it was known that it will not.
void ParameterServer::answer_all_that_may(int last) {
  const auto told = [&](int worker) {
    Worker& to = workers_[worker];
    if (!to.working) return true;
    if (!rule_.may_answer(worker)) return false;
    const double waited = world_.now() - to.waits_since;
    if (worker != last) counts_[worker].waited_seconds += waited, counts_[last].delayed_seconds += waited;
    try {
      const std::span<const float> numbers = rule_.answer(worker);
      model_.recorded(to.answering, static_cast<double>(numbers.size_bytes()), [&] { answer(worker, numbers); });
    } catch (const comm::PeerDied&) {
      leaves(worker, true);
    }
    return true;
  };
  // Again as long as somebody was told, or found dead, for whom others may have waited.
  while (std::erase_if(waiting_, told) > 0) continue;
}

void ParameterServer::leaves(int worker, bool died) {
  Worker& gone = workers_[worker];
  if (!gone.working) return;
  gone.working = false;
  counts_[worker].died = died;
  rule_.leaves(worker, died);
}

// Does not wait until it has arrived: a worker that stands still must not keep the others waiting.
void ParameterServer::answer(int worker, std::span<const float> numbers) {
  Worker& to = workers_[worker];
  to.answer = {model_.updates(), stop_, rule_.spoilt()};
  to.under_way.clear();
  const auto send = [&](std::span<const std::byte> bytes) {
    if (!bytes.empty()) to.under_way.push_back(world_.start_send(to.rank, answer_tag, bytes));
  };
  send(std::as_bytes(std::span(&to.answer, 1)));
  send(std::as_bytes(numbers));
  if (to.told.empty()) return;
  send(std::as_bytes(std::span(&to.load, 1)));
  send(std::as_bytes(std::span(to.told)));
}

void ParameterServer::answer_state(int worker) {
  Worker& to = workers_[worker];
  KeptParameters& kept = model_.kept();
  std::vector<std::span<const float>> statistics;
  for (const Worker& each : workers_)
    if (each.statistics) statistics.emplace_back(each.statistics->mine());
  kept.set_statistics(statistics);
  to.state = model_.memory(kept.numbers().size());
  if (!model_.pretends(2.0 * static_cast<double>(kept.numbers().size_bytes())))
    std::ranges::copy(kept.numbers(), to.state->mine().begin());
  to.told = counts_;
  to.load = load_;
  to.load.seconds = world_.now() - begun_at_;
  answer(worker, to.state->mine());
  rule_.has_read(worker);
}

void ParameterServer::end() {
  for (int worker = 0; worker < std::ssize(workers_); ++worker) {
    if (!workers_[worker].waits_for_end) continue;
    if (worker == 0) answer_state(worker);
    else answer(worker);
  }
  for (Worker& each : workers_) {
    try {
      for (comm::Ticket& ticket : each.under_way) ticket.wait();
    } catch (const comm::PeerDied&) {  // it had nothing left to do
    }
  }
}

}  // namespace isobar::parallel
