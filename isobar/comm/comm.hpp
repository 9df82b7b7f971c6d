// Comm: a numbered group of ranks that send each other bytes. Messages of different groups, epochs or tags are never
// mixed up, so a group without a dead member is just another list of ranks. A rank that fails calls abort(): every wait
// of every rank then throws, and no rank waits forever. A kind of group implements begin_send, begin_receive, among and
// share; what concerns all ranks, whatever their groups, is in its WorldView.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isobar/base/error.hpp"
#include "isobar/comm/group.hpp"
#include "isobar/comm/shared_memory.hpp"
#include "isobar/comm/world_view.hpp"

namespace isobar::comm {

class GradientMemory;
class Inbox;
class Reducer;
struct ReducerOptions;

/// Some rank gave up; the message names it: "[rank 3] train/a.h5: cannot be read".
class Aborted : public Error {
 public:
  using Error::Error;
};

/// Ranks have died, and the others continue without them: every wait in a group of an older epoch throws this. The rank
/// drops what it is doing and musters again (crew.hpp).
class MembersChanged : public Aborted {
 public:
  using Aborted::Aborted;
};

/// A rank that this one waits for has ended without failing; the other ranks are not notified.
class PeerLeft : public Error {
 public:
  using Error::Error;
};

/// A rank that this one waits for has died, and is missed by nobody else (Fate::peer).
class PeerDied : public Error {
 public:
  using Error::Error;
};

/// The implementation of a Ticket; every kind of Comm has its own.
class Transfer {
 public:
  /// Withdraws a message that is not finished: its memory is no longer touched.
  virtual ~Transfer() = default;
  /// Whether it finishes within `seconds`; throws Aborted if a rank fails meanwhile.
  virtual bool finishes_within(double seconds) = 0;
  /// Waits until it is finished; throws Aborted if a rank fails meanwhile.
  virtual void finish() = 0;
  /// How long the finished message was.
  virtual std::size_t bytes() const = 0;
};

/// What is known of the length of a message before it arrives.
enum class Length { exact, at_most };

/// A message on its way. Its memory must outlive it; dropping an unfinished ticket withdraws the message.
class Ticket {
 public:
  Ticket() = default;
  explicit Ticket(std::unique_ptr<Transfer> transfer) : transfer_(std::move(transfer)) {}

  /// Returns when the memory may be used again, at once for an empty ticket.
  void wait() {
    if (!transfer_) return;
    transfer_->finish();
    end();
  }
  /// As wait(), but gives up after `seconds` and returns false; call it again to keep waiting.
  bool wait_for(double seconds) {
    if (!transfer_) return true;
    if (!transfer_->finishes_within(seconds)) return false;
    end();
    return true;
  }
  bool done() { return wait_for(0); }
  /// The length of the message, once it is finished.
  std::size_t bytes() const {
    expects(!transfer_, "a message that is finished");
    return bytes_;
  }
  /// What implements it; null once it is finished.
  Transfer* transfer() const { return transfer_.get(); }

 private:
  void end() {
    bytes_ = transfer_->bytes();
    transfer_.reset();
  }

  std::unique_ptr<Transfer> transfer_;
  std::size_t bytes_ = 0;
};

/// Message tags are at least 0 and below tag_limit; those from first_reserved_tag on belong to collectives. The limit
/// leaves room for group and epoch in an MPI tag.
inline constexpr int tag_limit = 1 << 13, first_reserved_tag = 1 << 12;

/// What a rank has sent so far.
struct Traffic {
  std::int64_t messages = 0, bytes = 0;

  Traffic& operator+=(const Traffic& more) {
    messages += more.messages;
    bytes += more.bytes;
    return *this;
  }
  Traffic& operator-=(const Traffic& less) { return *this += {-less.messages, -less.bytes}; }
};

/// One rank's view of a group. All threads of the rank may use it.
class Comm {
 public:
  virtual ~Comm() = default;

  /// Who belongs to the group; never changes. All lists are filled in.
  const Group& group() const { return group_; }
  int rank() const { return group_.rank; }
  int size() const { return group_.size; }
  const std::vector<int>& members() const { return group_.members; }
  const std::vector<int>& nodes() const { return group_.nodes; }
  std::uint32_t epoch() const { return group_.epoch; }

  /// Begins to send; messages with the same tag between two ranks arrive in the order they were begun. The ticket may
  /// stay unfinished until the receiver has begun to receive.
  Ticket start_send(int to, int tag, std::span<const std::byte> bytes) {
    messages_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(static_cast<std::int64_t>(bytes.size()), std::memory_order_relaxed);
    return begin_send(to, tag, bytes);
  }
  /// Begins to receive; the message must have exactly this length.
  Ticket start_receive(int from, int tag, std::span<std::byte> bytes) {
    return begin_receive(from, tag, bytes, Length::exact);
  }
  /// Begins to receive a message that may be shorter than the memory: Ticket::bytes() then says how long it was. The
  /// next receive from this rank with this tag may begin when this one is finished, and not before.
  Ticket start_receive_at_most(int from, int tag, std::span<std::byte> memory) {
    return begin_receive(from, tag, memory, Length::at_most);
  }
  void send(int to, int tag, std::span<const std::byte> bytes) { start_send(to, tag, bytes).wait(); }
  void receive(int from, int tag, std::span<std::byte> bytes) { start_receive(from, tag, bytes).wait(); }
  /// What this rank has sent in this group.
  Traffic traffic() const { return {messages_, bytes_}; }

  /// Shared by all groups of this rank; the functions below forward to it.
  const std::shared_ptr<WorldView>& view() const { return view_; }
  bool elastic() const { return view_->elastic(); }
  const std::string& carrier() const { return view_->carrier(); }
  bool abort(const std::string& message) { return view_->abort(message); }
  void check() const { view_->check(epoch()); }
  void note(std::string what) { view_->note(std::move(what)); }
  /// What the ranks of this group noted last, by rank.
  std::vector<std::optional<std::string>> whereabouts(double seconds) { return view_->whereabouts(members(), seconds); }
  double now() const { return view_->now(); }

  /// Makes a group of some ranks of this one, in the given order, with messages separate from all others. Only these
  /// ranks call, all with the same list; ranks that share several lists must make these groups in the same order.
  virtual std::unique_ptr<Comm> among(std::span<const int> ranks) = 0;
  /// Makes memory that all members see, `bytes` for each, all zero. All ranks must call, and be on one node.
  virtual std::shared_ptr<SharedMemory> share(std::size_t bytes) = 0;

  /// The message library's own sum over all ranks, in place; empty if there is none. The sum blocks; all ranks must
  /// call it in the same order, and no two threads at the same time.
  virtual std::function<void(std::span<float>)> native_sum() { return {}; }
  /// The memory this kind of group brings along, since a simulation need not keep numbers; null if any will do.
  virtual std::unique_ptr<GradientMemory> own_memory(std::size_t floats);
  /// The reducer it brings along, since a simulation simulates its sums; null if any will do. All ranks must call.
  virtual std::unique_ptr<Reducer> own_reducer(GradientMemory& memory, const ReducerOptions& options);
  /// The inbox it brings along, since in a simulation waiting takes simulated time; null if looking again and again
  /// will do.
  virtual std::unique_ptr<Inbox> own_inbox();

 protected:
  /// Lists that `group` leaves empty are filled in.
  Comm(Group group, std::shared_ptr<WorldView> view);
  /// The number that a rank of the group has in the world.
  int in_world(int rank) const {
    expects(rank >= 0 && rank < size(), "a rank of the group");
    return group_.members[static_cast<std::size_t>(rank)];
  }

 private:
  virtual Ticket begin_send(int to, int tag, std::span<const std::byte> bytes) = 0;
  virtual Ticket begin_receive(int from, int tag, std::span<std::byte> bytes, Length length) = 0;

  Group group_;
  std::shared_ptr<WorldView> view_;
  std::atomic<std::int64_t> messages_ = 0, bytes_ = 0;
};

/// Says that a message did not fit, which is a mistake of the program. `sent`: "a message of 5 bytes"; ranks are those
/// of the world.
[[noreturn]] void throw_wrong_length(const std::string& sent, int from, std::size_t room, Length length, int to);

/// Another group of the same ranks, with messages separate from all others. All ranks must call.
std::unique_ptr<Comm> duplicate(Comm& comm);

/// Runs `work`; if it fails on this rank, all ranks are notified before the error is rethrown. If another rank failed
/// first, that failure is thrown instead; a wrong call, which all ranks received, stays a UsageError on all of them.
template <class F>
auto guarded(Comm& comm, F work) {
  try {
    return work();
  } catch (const Aborted&) {
    throw;
  } catch (const UsageError& error) {
    comm.abort(error.what());
    throw;
  } catch (const std::exception& error) {
    if (!comm.abort(error.what())) comm.check();
    throw;
  } catch (...) {
    if (!comm.abort("an unknown failure")) comm.check();
    throw;
  }
}

}  // namespace isobar::comm
