// A Comm that hands everything on to another: tests change what they need of it.
#pragma once

#include <utility>

#include "isobar/comm/comm.hpp"

namespace isobar::tests {

class ForwardingComm : public comm::Comm {
 public:
  explicit ForwardingComm(comm::Comm& to) : to_(to) {}

  int rank() const override { return to_.rank(); }
  const std::vector<int>& members() const override { return to_.members(); }
  std::uint32_t epoch() const override { return to_.epoch(); }
  const std::vector<int>& nodes() const override { return to_.nodes(); }
  comm::Ticket start_send(int to, int tag, std::span<const std::byte> bytes) override {
    return to_.start_send(to, tag, bytes);
  }
  comm::Ticket start_receive(int from, int tag, std::span<std::byte> bytes) override {
    return to_.start_receive(from, tag, bytes);
  }
  bool abort(const std::string& message) override { return to_.abort(message); }
  void check() const override { to_.check(); }
  std::unique_ptr<Comm> split(int color, int key) override { return to_.split(color, key); }
  std::unique_ptr<Comm> regroup(std::span<const int> ranks, std::uint32_t epoch) override {
    return to_.regroup(ranks, epoch);
  }
  std::shared_ptr<comm::SharedMemory> share(std::size_t bytes) override { return to_.share(bytes); }
  void note(std::string what) override { to_.note(std::move(what)); }
  std::vector<std::optional<std::string>> whereabouts(double seconds) override { return to_.whereabouts(seconds); }
  comm::Traffic traffic() const override { return to_.traffic(); }
  double now() const override { return to_.now(); }

 protected:
  comm::Comm& to_;
};

}  // namespace isobar::tests
