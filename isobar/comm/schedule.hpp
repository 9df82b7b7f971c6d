// Schedule: a collective seen from one rank, as data: rounds in order, the moves of a round in any order. A pure
// function of the group and the count, so that one process can check it for all ranks, and a simulator can cost it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "isobar/base/row.hpp"
#include "isobar/comm/comm.hpp"
#include "isobar/comm/numbers.hpp"

namespace isobar::comm {

/// One message. A send takes the data as they were before the round; a receive replaces the range or adds to it, as the
/// numbers have it, whatever their type; ranges
/// received in one round do not overlap. Messages between two ranks in one round are matched in the order in which both
/// list them, that of their places in the data, and both name the same range. A send to oneself is no message: it only
/// rounds the range, as every send does that is not exact.
struct Move {
  enum class Kind { send, receive, add } kind;
  int peer = 0;
  Range range;

  /// Whether this move sends a message; `rank` is the rank whose move it is.
  bool is_message_of(int rank) const { return kind == Kind::send && peer != rank; }
};

using Round = std::vector<Move>;
/// All ranks have the same number of rounds, empty where a rank has nothing to do; moves of no numbers are left out.
using Schedule = std::vector<Round>;

/// Block `index` of `count` numbers cut into `parts` whose lengths differ by at most one, the longer ones first.
Range block(std::size_t count, int parts, int index);

/// A way to do one kind of collective.
class Algorithm {
 public:
  virtual ~Algorithm() = default;
  virtual Schedule schedule(const Group& group, std::size_t count) const = 0;
};

/// Afterwards every rank has the sum over all ranks, bit for bit the same on all.
Table<Row<Algorithm>> all_reduces();
/// Afterwards rank r has block(count, size, r) of the sum; the rest of its data is undefined.
Table<Row<Algorithm>> reduce_scatters();
/// Before it rank r has block(count, size, r), afterwards every rank has all blocks.
Table<Row<Algorithm>> all_gathers();
/// Afterwards every rank has the data of rank 0.
Table<Row<Algorithm>> broadcasts();

/// Walks a schedule in the calling thread and returns when this rank's part is done. All ranks must call, with
/// schedules of one algorithm and numbers of one type.
void run(Comm& comm, const Schedule& schedule, const Numbers& data);

}  // namespace isobar::comm
