#include "isobar/exec/messages.hpp"

#include "isobar/base/error.hpp"
#include "isobar/comm/reserved_tags.hpp"
#include "isobar/comm/walk_flight.hpp"
#include "isobar/graph/plan_messages.hpp"

namespace isobar::exec {
namespace {

// Before sums of gradients: a pass waits for these.
constexpr int priority = 1 << 20;

comm::Numbers numbers_in(std::span<std::byte> buffer, ops::Talk::Type type) {
  if (type == ops::Talk::Type::doubles)
    return std::span(reinterpret_cast<double*>(buffer.data()), buffer.size() / sizeof(double));
  return std::span(reinterpret_cast<float*>(buffer.data()), buffer.size() / sizeof(float));
}

bool follows(const ops::Talk& start, const ops::Talk& finish) {
  return finish.phase == ops::Talk::Phase::finish && finish.circle == start.circle && finish.number == start.number;
}

}  // namespace

// The messages of one circle.
class Messages::Circle {
 public:
  Circle(comm::Comm& comm, const TalkSetting& setting) : comm_(comm), setting_(setting) { renew(); }

  void start(const graph::PlanStep& step, std::span<std::byte> buffer, std::int64_t training_step, bool at_once) {
    const ops::Talk& talk = *step.talk;
    expects(talk.rank == comm_.rank(), "a plan made for this rank of the circle");
    std::function<void()> ended;
    if (setting_.trace) {
      const StepTrace::Mark mark = setting_.trace->begin_beside(Lane::exchange, Category::communication, name_of(step));
      ended = [mark, trace = setting_.trace, bytes = step.bytes] { trace->end_beside(mark, bytes); };
    }
    const comm::Traffic traffic = ops::traffic_of(talk);
    sent_.messages += traffic.messages;
    sent_.bytes += traffic.bytes;
    comm::Walk walk(comm_, talk.moves, numbers_in(buffer, talk.type), tag_of(talk));
    const bool is_new = under_way_
                            .emplace(talk.number, client_->start(std::make_unique<comm::WalkFlight>(std::move(walk)),
                                                                 priority, what(step, training_step), ended, at_once))
                            .second;
    expects(is_new, "messages that are not under way already");
  }

  void finish(const graph::PlanStep& step) {
    const auto found = under_way_.find(step.talk->number);
    expects(found != under_way_.end(), "messages that have begun");
    client_->wait(found->second);
    under_way_.erase(found);
  }

  void withdraw() {
    if (!under_way_.empty()) renew();
  }

  comm::ExchangeCost cost() const {
    comm::ExchangeCost cost = client_->cost();
    cost += before_;
    cost.traffic = sent_;
    return cost;
  }

 private:
  void renew() {
    if (client_) before_ = cost();
    client_.reset();
    under_way_.clear();
    client_ = std::make_unique<comm::MessageEngine::Client>(comm_, setting_.limits,
                                                            [this] { return comm_.traffic().messages; });
  }
  std::uint32_t name_of(const graph::PlanStep& step) {
    const auto [found, is_new] = names_.try_emplace(&step);
    if (is_new) found->second = setting_.trace->main().intern(graph::message_name(step.name));
    return found->second;
  }
  int tag_of(const ops::Talk& talk) const {
    return comm::sum_tag(std::int64_t{talk.number} * setting_.lanes + setting_.lane);
  }
  static std::string what(const graph::PlanStep& step, std::int64_t training_step) {
    return fmt::format("messages of '{}' in step {}", step.name, training_step);
  }

  comm::Comm& comm_;
  const TalkSetting& setting_;
  std::unique_ptr<comm::MessageEngine::Client> client_;
  std::map<int, comm::MessageEngine::Flying> under_way_;   // by number of the talk
  std::map<const graph::PlanStep*, std::uint32_t> names_;  // in the trace
  comm::ExchangeCost before_;                              // of clients that were withdrawn
  comm::Traffic sent_;
};

Messages::Messages(const graph::Plan& plan, const TalkSetting& setting) : setting_(setting) {
  for (const std::string& name : plan.circles()) {
    const auto found = setting_.circles.find(name);
    expects(found != setting_.circles.end() && found->second, "a group for every circle that the plan talks in");
    circles_.emplace(name, std::make_unique<Circle>(*found->second, setting_));
  }
  for (std::size_t s = 1; s < plan.steps.size(); ++s) {
    const graph::PlanStep &before = plan.steps[graph::StepId(s - 1)], &step = plan.steps[graph::StepId(s)];
    if (before.talk && before.talk->phase == ops::Talk::Phase::start && step.talk && follows(*before.talk, *step.talk))
      awaited_at_once_.insert(&before);
  }
}

Messages::~Messages() = default;

void Messages::run(const graph::PlanStep& step, std::span<std::byte> buffer, std::int64_t training_step) {
  Circle& circle = *circles_.at(step.talk->circle);
  if (step.talk->phase == ops::Talk::Phase::start)
    circle.start(step, buffer, training_step, awaited_at_once_.contains(&step));
  else circle.finish(step);
}

void Messages::withdraw() {
  for (auto& [name, circle] : circles_) circle->withdraw();
}

comm::ExchangeCost Messages::cost() const {
  comm::ExchangeCost all;
  for (const auto& [name, circle] : circles_) all += circle->cost();
  return all;
}

}  // namespace isobar::exec
