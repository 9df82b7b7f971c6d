// Comm: a numbered group of ranks that send each other bytes. It knows its members and its epoch from the first day, so
// that a group without a dead member is only another list: messages of different groups, epochs or tags never meet.
// A rank that fails says so with abort(): every wait of every rank then throws, and nobody waits for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isobar/base/error.hpp"

namespace isobar::comm {

/// Some rank gave up; the message names it: "[rank 3] train/a.h5: cannot be read".
class Aborted : public Error {
 public:
  using Error::Error;
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

/// Tags from here on belong to collectives.
inline constexpr int first_reserved_tag = 1 << 20;

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

  /// Seconds on this world's clock.
  virtual double now() const = 0;
};

/// Runs `work`; when it fails on this rank the whole world is told before the error goes on. What fails only because
/// another rank has failed before goes on as that rank's failure.
template <class F>
auto guarded(Comm& comm, F work) {
  try {
    return work();
  } catch (const Aborted&) {
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
