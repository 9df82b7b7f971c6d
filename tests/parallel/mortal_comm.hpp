// A group whose waits end with MembersChanged on all ranks from some message on, as when a rank has died; the ranks
// themselves live on, so that what they are left with can be looked at.
#pragma once

#include <atomic>

#include "isobar/comm/comm.hpp"

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

class MortalComm final : public comm::Comm {
 public:
  MortalComm(comm::Comm& whole, Fate& fate) : whole_(whole), fate_(fate) {}

  int rank() const override { return whole_.rank(); }
  const std::vector<int>& members() const override { return whole_.members(); }
  std::uint32_t epoch() const override { return whole_.epoch(); }
  bool elastic() const override { return true; }
  const std::vector<int>& nodes() const override { return whole_.nodes(); }
  comm::Ticket start_send(int to, int tag, std::span<const std::byte> bytes) override {
    fate_.count();
    return comm::Ticket(std::make_unique<MortalTransfer>(whole_.start_send(to, tag, bytes), fate_));
  }
  comm::Ticket start_receive(int from, int tag, std::span<std::byte> bytes) override {
    fate_.count();
    return comm::Ticket(std::make_unique<MortalTransfer>(whole_.start_receive(from, tag, bytes), fate_));
  }
  bool abort(const std::string& message) override { return whole_.abort(message); }
  void check() const override {
    fate_.check();
    whole_.check();
  }
  std::unique_ptr<comm::Comm> split(int color, int key) override { return wrapped(whole_.split(color, key)); }
  std::unique_ptr<comm::Comm> regroup(std::span<const int> ranks, std::uint32_t epoch) override {
    return wrapped(whole_.regroup(ranks, epoch));
  }
  std::shared_ptr<comm::SharedMemory> share(std::size_t bytes) override { return whole_.share(bytes); }
  void note(std::string what) override { whole_.note(std::move(what)); }
  std::vector<std::optional<std::string>> whereabouts(double seconds) override { return whole_.whereabouts(seconds); }
  comm::Traffic traffic() const override { return whole_.traffic(); }
  double now() const override { return whole_.now(); }

 private:
  MortalComm(std::unique_ptr<comm::Comm> own, Fate& fate) : own_(std::move(own)), whole_(*own_), fate_(fate) {}
  std::unique_ptr<comm::Comm> wrapped(std::unique_ptr<comm::Comm> group) {
    return std::unique_ptr<comm::Comm>(new MortalComm(std::move(group), fate_));
  }

  std::unique_ptr<comm::Comm> own_;
  comm::Comm& whole_;
  Fate& fate_;
};

}  // namespace isobar::parallel::trials
