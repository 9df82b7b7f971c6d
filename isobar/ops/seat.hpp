// Seat: where an operator that talks sits among the ranks of a circle, and the kernels all such operators are made of.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "isobar/ops/op.hpp"

namespace isobar::ops {

struct Seat {
  std::string circle;  ///< "replica"
  int rank = 0, ranks = 1;
  int id = 0;  ///< no other operator that talks in the circle has it; the same on all its ranks

  Seat(std::string of_circle, int own_rank, int all_ranks, int first_id = 0)
      : circle(std::move(of_circle)), rank(own_rank), ranks(all_ranks), id(first_id) {}
  /// Reads circle, rank, ranks and id.
  explicit Seat(Args& args);
  /// Writes them.
  void set_in(Spec& spec) const;
  /// For messages of the schedules of comm.
  comm::Group group() const { return {.rank = rank, .size = ranks}; }
};

/// Numbers of the talks of one operator: of its forward pass, and of its backward pass.
inline int forward_talk(const Seat& seat) { return 2 * seat.id; }
inline int backward_talk(const Seat& seat) { return 2 * seat.id + 1; }

/// Two kernels: messages that begin in temporary `letter`, and the end of the wait for them. What lies between may be
/// done meanwhile. Afterwards temporary `letter` + 2 is the same memory with what has arrived.
std::vector<Kernel> conversation(const Seat& seat, int number, const Layout& buffer, int letter, comm::Schedule moves,
                                 Talk::Type type = Talk::Type::floats);

/// A sum over all ranks of the circle, after which all have the same bits.
comm::Schedule sum_schedule(const Seat& seat, std::size_t count);

}  // namespace isobar::ops
