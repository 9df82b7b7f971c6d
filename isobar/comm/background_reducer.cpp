#include "isobar/comm/background_reducer.hpp"

namespace isobar::comm {

BackgroundReducer::BackgroundReducer(Comm& comm, GradientMemory& memory, const ReducerOptions& options, bool by_nodes)
    : codec_(options.codec), own_(duplicate(comm)), engine_(comm, options, [this] { return traffic().messages; }) {
  if (by_nodes) node_ = std::make_unique<NodeGroup>(comm, memory);
  place_ = std::make_unique<Place>(Place{*own_, memory.mine(), node_.get()});
}

void BackgroundReducer::choose(std::function<std::size_t(std::size_t)> choice, std::string described) {
  engine_.reset_cost();
  choose_ = std::move(choice);
  traffic_before_ = traffic();
  described_ = std::move(described);
}

Reducer::Sum BackgroundReducer::start(SumRequest sum) {
  expect_within(sum.range, memory().size());
  auto flight = routes_[choose_(sum.range.count)]->fly(started_, sum.range, sum.exact ? *codec::plain() : *codec_);
  if (node_) node_->started(started_ + 1);
  ++started_;
  return engine_.start(std::move(flight), sum.priority, std::move(sum.what), std::move(sum.ended));
}

Traffic BackgroundReducer::traffic() const {
  Traffic all = own_->traffic();
  const auto add = [&](Traffic more) {
    all.messages += more.messages;
    all.bytes += more.bytes;
  };
  if (node_) add(node_->traffic());
  if (node_ && node_->between()) add(node_->between()->traffic());
  return all;
}

ExchangeCost BackgroundReducer::cost() const {
  const Traffic all = traffic();
  ExchangeCost cost = engine_.cost();
  cost.traffic = {all.messages - traffic_before_.messages, all.bytes - traffic_before_.bytes};
  return cost;
}

}  // namespace isobar::comm
