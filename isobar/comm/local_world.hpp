// The world behind LocalComm: who sent what to whom and who waits for it. One lock guards all of it; bytes are copied
// outside the lock, by the second of the two ranks to arrive. With a roster ranks may die: everything in a group of an
// older epoch then ends with MembersChanged, or, if the rank worked alone, what waits for it with PeerDied.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "isobar/comm/comm.hpp"
#include "isobar/comm/group_register.hpp"
#include "isobar/comm/local_roster.hpp"

namespace isobar::comm {

/// Which messages can meet: group, epoch, sender and receiver in the world, tag.
using Channel = std::tuple<std::uint64_t, std::uint32_t, int, int, int>;

/// One side of a message; guarded by the lock of its world, except the bytes while they are being copied.
struct Side {
  enum class State { waiting, copying, finished, wrong_length } state = State::waiting;
  bool sends = false;
  int self = 0, peer = 0;  // in the world
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::size_t length = 0;  // a receive that may be shorter: how much room there is
  bool may_be_shorter = false;
  std::size_t met_length = 0;  // of the other side
};

class LocalWorld {
 public:
  explicit LocalWorld(int size, int per_node = 1, std::optional<LocalRoster> roster = {})
      : per_node_(per_node),
        elastic_(roster.has_value()),
        mailboxes_(static_cast<std::size_t>(size)),
        notes_(static_cast<std::size_t>(size)),
        roster_(std::move(roster)) {}

  int size() const { return static_cast<int>(mailboxes_.size()); }
  bool elastic() const { return elastic_; }
  /// All ranks, as one of them sees them.
  Group all(int rank) const;
  /// Begins one side of a message: meets the other side, or waits in the channel for it.
  void begin(const Channel& channel, const std::shared_ptr<Side>& side);
  /// Whether the side is finished within `seconds`; below 0: waits as long as it takes.
  bool wait(const Channel& channel, const std::shared_ptr<Side>& side, double seconds);
  /// Takes a side back; if its bytes are being copied, waits for the end of that.
  void withdraw(const Channel& channel, const std::shared_ptr<Side>& side);

  bool abort(int rank, const std::string& message);
  /// Throws when the world has failed, the rank is dead, or a group of this epoch has lost members.
  void check(int rank, std::uint32_t epoch) const;
  /// Only those who wait for this rank will miss it if it dies.
  void work_alone(int rank);
  /// The rank takes no further part: ranks that still wait for it fail.
  void leave(int rank);
  /// The number of a group within another; see GroupRegister.
  std::uint64_t number(std::uint64_t parent, const Group& group);
  /// Memory of `bytes` bytes; callers with the same group, epoch and serial number get the same memory.
  std::shared_ptr<std::vector<std::byte>> memory(std::uint64_t group, std::uint32_t epoch, std::uint64_t serial,
                                                 std::size_t bytes);
  void note(int rank, std::string what);
  /// What a rank noted last; empty for a dead rank.
  std::optional<std::string> noted(int rank) const;

  /// Waits until it is decided who works together, this rank among them; see LocalRoster.
  LocalRoster::Order muster(int rank, bool stands_by);
  /// Ends the world; this does not count as a failure of the rank.
  void give_up(int rank, const std::string& why);
  std::optional<std::string> gave_up() const;
  std::vector<int> died() const;
  bool has_died(int rank) const;

 private:
  struct Mailbox {
    std::condition_variable changed;  // something its rank may wait for
    bool left = false;
  };

  void wake_all();
  bool dead(int rank) const { return roster_ && roster_->dead(rank); }
  bool outdated(std::uint32_t epoch) const { return roster_ && epoch < roster_->epoch(); }
  void throw_if_ended(int rank, std::uint32_t epoch) const;
  void die_if(bool dies, int rank);
  void copy(std::unique_lock<std::mutex>& lock, Side& from, Side& to);

  const int per_node_;
  const bool elastic_;
  mutable std::mutex mutex_;
  std::vector<Mailbox> mailboxes_;
  std::map<Channel, std::deque<std::shared_ptr<Side>>> waiting_;  // in one channel all send or all receive
  GroupRegister groups_;
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>, std::weak_ptr<std::vector<std::byte>>> memories_;
  std::vector<std::string> notes_;
  std::optional<LocalRoster> roster_;
  std::optional<std::string> gave_up_;
  bool aborted_ = false;
  int aborted_by_ = -1;
  std::string message_;
};

}  // namespace isobar::comm
