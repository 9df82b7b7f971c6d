// Comm: a numbered group of ranks that send each other bytes. It knows its members and its epoch from the first day, so
// that a group without a dead member is only another list: messages of different groups, epochs or tags never meet.
// A rank that fails says so with abort(): every wait of every rank then throws, and nobody waits for ever.
#pragma once

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
#include "isobar/comm/shared_memory.hpp"

namespace isobar::comm {

class Reducer;
struct ReducerOptions;

/// Some rank gave up; the message names it: "[rank 3] train/a.h5: cannot be read".
class Aborted : public Error {
 public:
  using Error::Error;
};

/// Ranks have died, and the others go on without them: every wait of a group of an older epoch ends with it. The rank
/// leaves what it does and musters again (crew.hpp).
class MembersChanged : public Aborted {
 public:
  using Aborted::Aborted;
};

/// A rank that was waited for has ended, without failing; nobody else is told.
class PeerLeft : public Error {
 public:
  using Error::Error;
};

/// What is behind a Ticket; a kind of Comm brings its own.
class Transfer {
 public:
  /// Withdraws what is not finished: the memory is not touched any more.
  virtual ~Transfer() = default;
  /// Whether it is finished within so many seconds; throws Aborted when a rank has failed meanwhile.
  virtual bool finishes_within(double seconds) = 0;
  /// Waits until it is finished; throws Aborted when a rank has failed meanwhile.
  virtual void finish() = 0;
};

/// A message under way. Its memory must outlive it; a ticket that is dropped unfinished withdraws the message.
class Ticket {
 public:
  Ticket() = default;
  explicit Ticket(std::unique_ptr<Transfer> transfer) : transfer_(std::move(transfer)) {}

  /// Returns when the memory may be used again; an empty ticket is finished.
  void wait() {
    if (transfer_) transfer_->finish();
    transfer_.reset();
  }
  /// As wait(), but gives up after some seconds and returns false; it can then be waited for again.
  bool wait_for(double seconds) {
    if (transfer_ && !transfer_->finishes_within(seconds)) return false;
    transfer_.reset();
    return true;
  }
  bool done() { return wait_for(0); }

 private:
  std::unique_ptr<Transfer> transfer_;
};

/// Tags of messages are at least 0 and below this; those from first_reserved_tag on belong to collectives. Few enough
/// to leave room for group and epoch beside them in a tag of MPI.
inline constexpr int tag_limit = 1 << 13, first_reserved_tag = 1 << 12;

/// What a rank has sent so far.
struct Traffic {
  std::int64_t messages = 0, bytes = 0;
};

/// One rank's view of a group. All threads of the rank may use it.
class Comm {
 public:
  virtual ~Comm() = default;

  /// This rank's number in the group: its place in members().
  virtual int rank() const = 0;
  /// The numbers the members have in the world, the group of all ranks.
  virtual const std::vector<int>& members() const = 0;
  virtual std::uint32_t epoch() const = 0;
  int size() const { return static_cast<int>(members().size()); }
  /// Whether members may die without ending the world: waits then end with MembersChanged.
  virtual bool elastic() const { return false; }
  /// The number of every member's node, by rank, counted from 0 in the order of the ranks: members of one node can
  /// share memory.
  virtual const std::vector<int>& nodes() const = 0;

  /// Begins to send; messages of one tag between two ranks arrive in the order in which they were begun. It may take
  /// until the receiver has begun to receive.
  virtual Ticket start_send(int to, int tag, std::span<const std::byte> bytes) = 0;
  /// Begins to receive; the message must have exactly this length.
  virtual Ticket start_receive(int from, int tag, std::span<std::byte> bytes) = 0;

  void send(int to, int tag, std::span<const std::byte> bytes) { start_send(to, tag, bytes).wait(); }
  void receive(int from, int tag, std::span<std::byte> bytes) { start_receive(from, tag, bytes).wait(); }

  /// Tells the whole world that this rank cannot go on: all waiting ends with Aborted("[rank n] message"), n its number
  /// in the world. Of several messages the first is kept; returns whether that is one of this rank.
  virtual bool abort(const std::string& message) = 0;
  /// Throws Aborted when some rank has failed: for long work without messages.
  virtual void check() const = 0;

  /// Makes a group of the ranks that give the same colour, in the order of their keys, equal keys in the old order. All
  /// ranks must call; one that gives a colour below 0 gets none.
  virtual std::unique_ptr<Comm> split(int color, int key) = 0;
  /// This group with only some of its ranks, in the given order, and another epoch; this rank must be among them. No
  /// message is sent: those who stay must give the same list.
  virtual std::unique_ptr<Comm> regroup(std::span<const int> ranks, std::uint32_t epoch) = 0;

  /// Makes memory that all members see, `bytes` for each, all zero. All ranks must call, and be on one node.
  virtual std::shared_ptr<SharedMemory> share(std::size_t bytes) = 0;

  /// The sum over all ranks by what the machine's message library brings itself, in place; an empty function where
  /// there is none. Blocks; all ranks must call it in the same order, no two threads at the same time.
  virtual std::function<void(std::span<float>)> native_sum() { return {}; }

  /// A reducer of this group's own kind, where it has one: a simulated group sums by simulating. Null: any will do. All
  /// ranks must call.
  virtual std::unique_ptr<Reducer> own_reducer(std::size_t floats, const ReducerOptions& options);

  /// What carries messages between nodes: "MPICH 4.0.2"; empty where speed is not worth measuring, as among threads.
  virtual std::string carrier() const { return {}; }

  /// Notes what this rank is about to do: "step 12: gradients 3 of 7". Cheap; shown to others that wait for this rank.
  virtual void note(std::string what) = 0;
  /// What every rank noted last, by rank; a rank that does not answer in time has no value.
  virtual std::vector<std::optional<std::string>> whereabouts(double seconds) = 0;
  virtual Traffic traffic() const = 0;

  /// Seconds on this world's clock.
  virtual double now() const = 0;
};

/// Runs `work`; when it fails on this rank the whole world is told before the error goes on. What fails only because
/// another rank has failed before goes on as that rank's failure; a wrong call, which all ranks got, stays one on all.
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
