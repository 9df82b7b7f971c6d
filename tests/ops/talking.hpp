// Operators that talk, each as every rank of a circle has it, run over threads.
#pragma once

#include "isobar/comm/local_comm.hpp"

#include "tests/ops/direct.hpp"

namespace isobar::ops {

/// One operator on several ranks.
struct TalkingCase {
  std::string name;
  std::vector<std::string> specs;      ///< by rank, without rank and ranks; empty: this rank does not have it
  std::vector<std::vector<Shape>> in;  ///< by rank: data inputs
  bool same_inputs = false;            ///< all ranks have the same numbers
  bool same_gradients = false;         ///< all ranks have the same gradients of the output

  int ranks() const { return static_cast<int>(specs.size()); }
};

/// Runs `work` on every rank that has the operator, with a Direct that talks with the others.
inline void run_talking(const TalkingCase& made, const std::function<void(int rank, Direct& direct)>& work) {
  comm::run_ranks(made.ranks(), [&](comm::Comm& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    if (made.specs[rank].empty()) return;
    Spec spec(made.specs[rank]);
    spec.set("rank", comm.rank());
    spec.set("ranks", comm.size());
    Direct direct(spec, made.in[rank]);
    direct.comm = &comm;
    work(comm.rank(), direct);
    EXPECT_TRUE(direct.intact()) << made.name;
  });
}

/// The results of one pass forward and one backward, by rank; empty for a rank without.
struct Talked {
  std::vector<std::vector<float>> y, dx;
  bool operator==(const Talked&) const = default;
};

inline Talked talked(const TalkingCase& made, const std::vector<std::vector<float>>& x,
                     const std::vector<std::vector<float>>& dy) {
  Talked all{std::vector<std::vector<float>>(x.size()), std::vector<std::vector<float>>(x.size())};
  run_talking(made, [&](int rank, Direct& direct) {
    const auto r = static_cast<std::size_t>(rank);
    const auto listed = [](std::span<const float> s) { return std::vector<float>(s.begin(), s.end()); };
    if (!direct.in.empty()) std::ranges::copy(x[r], direct.x(0).begin());
    direct.forward();
    all.y[r] = listed(direct.y());
    std::ranges::copy(dy[r], direct.dy().begin());
    direct.backward();
    if (!direct.in.empty()) all.dx[r] = listed(direct.dx(0));
  });
  return all;
}

/// Every operator that talks, on so many ranks.
inline std::vector<TalkingCase> talking_cases(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  const auto everywhere = [&](const std::string& spec) { return std::vector<std::string>(n, spec); };
  const auto same = [&](const Shape& x) { return std::vector<std::vector<Shape>>(n, {x}); };
  std::string bounds = "0", have, want;
  std::vector<std::vector<Shape>> rows, batches;
  std::int64_t first = 0;
  const std::int64_t all = ranks * (ranks + 3) / 2;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t last = first + 2 + rank;
    bounds += fmt::format(", {}", last);
    have += fmt::format("{}{}, {}", rank ? ", " : "", first, last);
    want += fmt::format("{}{}, {}", rank ? ", " : "", std::max<std::int64_t>(0, first - 1),
                        std::min<std::int64_t>(all, last + 3));
    rows.push_back({Shape{2, last - first, 3}});
    batches.push_back({Shape{rank + 2, 2, 3}});
    first = last;
  }
  std::vector<TalkingCase> cases{
      {"halo", everywhere(fmt::format("halo(axis=1, have=[{}], want=[{}])", have, want)), rows},
      {"all_gather", everywhere(fmt::format("all_gather(axis=1, bounds=[{}])", bounds)), rows},
      {"all_gather", everywhere(fmt::format("all_gather(axis=1, bounds=[{}], copies=true)", bounds)), rows, false,
       true},
      {"reduce_scatter", everywhere(fmt::format("reduce_scatter(axis=1, bounds=[{}])", bounds)), same({2, all, 3})},
      {"all_reduce", everywhere("all_reduce"), same({3, 4})},
      {"fan_out", everywhere("fan_out"), same({3, 4}), true},
      {"batch_norm", everywhere("batch_norm"), batches}};
  if (ranks == 1) return cases;
  TalkingCase letter{"send", everywhere(""), std::vector<std::vector<Shape>>(n)};
  letter.specs.front() = fmt::format("receive(from={}, shape=[3, 4])", ranks - 1);
  letter.specs.back() = "send(to=0)";
  letter.in.back() = {Shape{3, 4}};
  cases.push_back(std::move(letter));
  return cases;
}

}  // namespace isobar::ops
