// A group whose waits end with MembersChanged on all ranks from some message on, as when a rank has died; the ranks
// themselves live on, so that what they are left with can be looked at.
#pragma once

#include <atomic>

#include "tests/comm/forwarding_comm.hpp"

namespace isobar::parallel::trials {

/// What the ranks of one world share: how many messages may still begin, those of all ranks together.
struct Fate {
  std::atomic<std::int64_t> messages_left{1 << 30};
  std::atomic<bool> changed{false};

  void check() const {
    if (changed) throw comm::MembersChanged("ranks have died");
  }
  void count() {
    if (--messages_left < 0) changed = true;
    check();
  }
};

class MortalTransfer final : public comm::Transfer {
 public:
  MortalTransfer(comm::Ticket ticket, Fate& fate) : ticket_(std::move(ticket)), fate_(fate) {}
  bool finishes_within(double seconds) override {
    fate_.check();
    return ticket_.wait_for(seconds);
  }
  void finish() override {
    do fate_.check();
    while (!ticket_.wait_for(0.001));
  }
  std::size_t bytes() const override { return ticket_.bytes(); }

 private:
  comm::Ticket ticket_;
  Fate& fate_;
};

class MortalView final : public tests::ForwardingView {
 public:
  MortalView(std::shared_ptr<comm::WorldView> to, Fate& fate) : ForwardingView(std::move(to), true), fate_(fate) {}
  void check(std::uint32_t epoch) const override {
    fate_.check();
    ForwardingView::check(epoch);
  }

 private:
  Fate& fate_;
};

class MortalComm final : public tests::ForwardingComm {
 public:
  MortalComm(comm::Comm& whole, Fate& fate)
      : ForwardingComm(whole, std::make_shared<MortalView>(whole.view(), fate)), fate_(fate) {}

  std::unique_ptr<comm::Comm> among(std::span<const int> ranks) override {
    auto group = to_.among(ranks);
    auto mortal = std::make_unique<MortalComm>(*group, fate_);
    mortal->own_ = std::move(group);
    return mortal;
  }

 private:
  comm::Ticket begin_send(int to, int tag, std::span<const std::byte> bytes) override {
    fate_.count();
    return comm::Ticket(std::make_unique<MortalTransfer>(to_.start_send(to, tag, bytes), fate_));
  }
  comm::Ticket begin_receive(int from, int tag, std::span<std::byte> bytes, comm::Length length) override {
    fate_.count();
    return comm::Ticket(
        std::make_unique<MortalTransfer>(ForwardingComm::begin_receive(from, tag, bytes, length), fate_));
  }

  std::unique_ptr<comm::Comm> own_;
  Fate& fate_;
};

}  // namespace isobar::parallel::trials
