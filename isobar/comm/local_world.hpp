// The world behind LocalComm: who sent what to whom and who waits for it. One lock guards all of it; bytes are copied
// outside the lock, by whoever of the two came second.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "isobar/comm/comm.hpp"

namespace isobar::comm {

/// Which messages can meet: group, epoch, sender and receiver in the world, tag.
using Channel = std::tuple<std::uint64_t, std::uint32_t, int, int, int>;

/// One side of a message; guarded by the lock of its world, but for the bytes while it is being copied.
struct Side {
  enum class State { waiting, copying, finished, wrong_length } state = State::waiting;
  bool sends = false;
  int self = 0, peer = 0;  // in the world
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::size_t length = 0, met_length = 0;
};

class LocalWorld {
 public:
  explicit LocalWorld(int size, int per_node = 1)
      : per_node_(per_node), mailboxes_(static_cast<std::size_t>(size)), notes_(static_cast<std::size_t>(size)) {}

  int size() const { return static_cast<int>(mailboxes_.size()); }
  int node(int rank) const { return rank / per_node_; }
  /// Begins one side of a message: meets the other side, or waits in the channel for it.
  void begin(const Channel& channel, const std::shared_ptr<Side>& side);
  /// Whether the side is finished within some seconds; below 0: as long as it takes.
  bool wait(const std::shared_ptr<Side>& side, double seconds);
  /// Takes a side back; when its bytes are just being copied, that is awaited.
  void withdraw(const Channel& channel, const std::shared_ptr<Side>& side);

  bool abort(int rank, const std::string& message);
  void check() const;
  /// The rank takes no further part: whoever still waits for it fails.
  void leave(int rank);
  /// The number of a group; those who give the same parent, serial number and colour get the same.
  std::uint64_t group(std::uint64_t parent, std::uint64_t serial, int color);
  /// Memory for `ranks` times so many bytes; those who give the same group and serial number get the same.
  std::shared_ptr<std::vector<std::byte>> memory(std::uint64_t group, std::uint64_t serial, std::size_t bytes);
  void note(int rank, std::string what);
  std::string noted(int rank) const;

 private:
  struct Mailbox {
    std::condition_variable changed;  // something its rank may wait for
    bool left = false;
  };

  void wake_all();
  void copy(std::unique_lock<std::mutex>& lock, Side& from, Side& to);
  [[noreturn]] void throw_wrong_length(const Side& side) const;

  const int per_node_;
  mutable std::mutex mutex_;
  std::vector<Mailbox> mailboxes_;
  std::map<Channel, std::deque<std::shared_ptr<Side>>> waiting_;  // in one channel all send or all receive
  std::map<std::tuple<std::uint64_t, std::uint64_t, int>, std::uint64_t> groups_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::weak_ptr<std::vector<std::byte>>> memories_;
  std::vector<std::string> notes_;
  bool aborted_ = false;
  int aborted_by_ = -1;
  std::string message_;
};

}  // namespace isobar::comm
