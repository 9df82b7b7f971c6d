// A Comm and a world view that forward everything to others: tests override what they need.
#pragma once

#include <utility>

#include "isobar/comm/comm.hpp"

namespace isobar::tests {

class ForwardingView : public comm::WorldView {
 public:
  explicit ForwardingView(std::shared_ptr<comm::WorldView> to) : ForwardingView(to, to->elastic()) {}
  ForwardingView(std::shared_ptr<comm::WorldView> to, bool elastic) : WorldView(elastic), to_(std::move(to)) {}

  bool abort(const std::string& message) override { return to_->abort(message); }
  void check(std::uint32_t epoch) const override { to_->check(epoch); }
  void set_fate(comm::Fate fate) override { to_->set_fate(fate); }
  bool has_died(int rank) const override { return to_->has_died(rank); }
  void note(std::string what) override { to_->note(std::move(what)); }
  std::vector<std::optional<std::string>> whereabouts(const std::vector<int>& ranks, double seconds) override {
    return to_->whereabouts(ranks, seconds);
  }
  double now() const override { return to_->now(); }

 private:
  std::shared_ptr<comm::WorldView> to_;
};

class ForwardingComm : public comm::Comm {
 public:
  explicit ForwardingComm(comm::Comm& to) : ForwardingComm(to, to.view()) {}
  ForwardingComm(comm::Comm& to, std::shared_ptr<comm::WorldView> view) : Comm(to.group(), std::move(view)), to_(to) {}

  std::unique_ptr<Comm> among(std::span<const int> ranks) override { return to_.among(ranks); }
  std::shared_ptr<comm::SharedMemory> share(std::size_t bytes) override { return to_.share(bytes); }

 protected:
  comm::Ticket begin_send(int to, int tag, std::span<const std::byte> bytes) override {
    return to_.start_send(to, tag, bytes);
  }
  comm::Ticket begin_receive(int from, int tag, std::span<std::byte> bytes, comm::Length length) override {
    return length == comm::Length::exact ? to_.start_receive(from, tag, bytes)
                                         : to_.start_receive_at_most(from, tag, bytes);
  }

  comm::Comm& to_;
};

}  // namespace isobar::tests
