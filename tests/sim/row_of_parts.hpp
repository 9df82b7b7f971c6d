// A model that is cut in a row: each part swaps numbers with the one before it and the one behind it, so those at the
// ends talk once and the others twice.
#pragma once

#include "isobar/sim/workload.hpp"

namespace isobar::tests {

/// Part `part` of a row: 10 ms before talks begin, 10 until they are awaited, 20 of backward pass with a gradient of
/// 1 MB, and the same talks in it. Each talk is `numbers` long in each direction, and those in the middle compute 2 ms
/// more.
inline sim::Workload part_of_row(int part, int parts, std::size_t numbers) {
  using Phase = ops::Talk::Phase;
  using comm::Move;
  const double more = part == 0 || part == parts - 1 ? 0 : 0.002;
  sim::Workload made;
  made.name = "row";
  int pass_number = 0;
  const auto talks = [&](Phase phase, std::vector<sim::Stretch>& pass) {
    for (const int other : {part - 1, part + 1}) {
      if (other < 0 || other >= parts) continue;
      ops::Talk talk{.phase = phase, .circle = "replica", .rank = part};
      talk.number = pass_number * parts + std::min(part, other);
      if (phase == Phase::start)
        talk.moves = {{{Move::Kind::send, other, {0, numbers}}, {Move::Kind::receive, other, {numbers, numbers}}}};
      pass.push_back({0, {}, talk});
    }
  };
  for (std::vector<sim::Stretch>* pass : {&made.forward, &made.backward}) {
    pass->push_back({0.01 + more});
    talks(Phase::start, *pass);
    pass->push_back({0.01});
    talks(Phase::finish, *pass);
    ++pass_number;
  }
  made.backward.push_back({0.001, {0}});
  made.parameters = {{"w", 250'000, true, 0}};
  return made;
}

inline std::vector<sim::Workload> row_of_parts(int parts, std::size_t numbers) {
  std::vector<sim::Workload> row;
  for (int part = 0; part < parts; ++part) row.push_back(part_of_row(part, parts, numbers));
  return row;
}

}  // namespace isobar::tests
