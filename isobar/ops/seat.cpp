#include "isobar/ops/seat.hpp"

namespace isobar::ops {
namespace {

// Fewer numbers than this travel sooner in few messages, more of them in short ones.
constexpr std::size_t few_numbers = 1 << 13;

}  // namespace

Seat::Seat(Args& args)
    : circle(args.text("circle", "replica")),
      rank(static_cast<int>(args.integer("rank", 0))),
      ranks(static_cast<int>(args.integer("ranks", 1))),
      id(static_cast<int>(args.integer("id", 0))) {
  args.require(ranks >= 1, "ranks must be at least 1");
  args.require(rank >= 0 && rank < ranks, "rank must be at least 0 and below ranks");
  args.require(id >= 0, "id must be at least 0");
}

void Seat::set_in(Spec& spec) const {
  spec.set("circle", circle);
  spec.set("rank", rank);
  spec.set("ranks", ranks);
  spec.set("id", id);
}

std::vector<Kernel> conversation(const Seat& seat, int number, const Layout& buffer, int letter, comm::Schedule moves,
                                 Talk::Type type) {
  const auto view = [&](const char* name, int from, Talk talk) {
    Kernel kernel{name, Category::communication};
    kernel.reads = {{{Slot::Kind::temp, from}, buffer}};
    kernel.writes = {{{Slot::Kind::temp, from + 1}, buffer}};
    kernel.talk = std::move(talk);
    return kernel;
  };
  using Phase = Talk::Phase;
  std::vector<Kernel> both;
  both.push_back(view("start", letter, {Phase::start, seat.circle, seat.rank, std::move(moves), type, number}));
  both.push_back(view("finish", letter + 1, {Phase::finish, seat.circle, seat.rank, {}, type, number}));
  return both;
}

comm::Schedule sum_schedule(const Seat& seat, std::size_t count) {
  const char* const name = count < few_numbers ? "recursive_doubling" : "ring";
  return make(comm::all_reduces(), name, "all-reduce")->schedule(seat.group(), count);
}

}  // namespace isobar::ops
