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

 private:
  comm::Ticket ticket_;
  Fate& fate_;
};

class MortalComm final : public tests::ForwardingComm {
 public:
  MortalComm(comm::Comm& whole, Fate& fate) : ForwardingComm(whole), fate_(fate) {}

  bool elastic() const override { return true; }
  comm::Ticket start_send(int to, int tag, std::span<const std::byte> bytes) override {
    fate_.count();
    return comm::Ticket(std::make_unique<MortalTransfer>(to_.start_send(to, tag, bytes), fate_));
  }
  comm::Ticket start_receive(int from, int tag, std::span<std::byte> bytes) override {
    fate_.count();
    return comm::Ticket(std::make_unique<MortalTransfer>(to_.start_receive(from, tag, bytes), fate_));
  }
  void check() const override {
    fate_.check();
    to_.check();
  }
  std::unique_ptr<comm::Comm> split(int color, int key) override { return wrapped(to_.split(color, key)); }
  std::unique_ptr<comm::Comm> regroup(std::span<const int> ranks, std::uint32_t epoch) override {
    return wrapped(to_.regroup(ranks, epoch));
  }

 private:
  MortalComm(std::unique_ptr<comm::Comm> own, Fate& fate) : ForwardingComm(*own), own_(std::move(own)), fate_(fate) {}
  std::unique_ptr<comm::Comm> wrapped(std::unique_ptr<comm::Comm> group) {
    return std::unique_ptr<comm::Comm>(new MortalComm(std::move(group), fate_));
  }

  std::unique_ptr<comm::Comm> own_;
  Fate& fate_;
};

}  // namespace isobar::parallel::trials
