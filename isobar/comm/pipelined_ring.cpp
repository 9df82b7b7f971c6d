// A ring for each segment, each one round later than the previous: while a segment is added others travel, and what is
// passed on is still in the cache. S segments take 2 (P - 1) + S - 1 rounds, 2 n (P - 1) / P numbers.
#include "isobar/comm/compose.hpp"

namespace isobar::comm {
namespace {

class PipelinedRing final : public Algorithm {
 public:
  explicit PipelinedRing(Args& args) : segment_(args.integer("segment", 1 << 17)) {
    args.require(segment_ >= 1, "segment must be at least 1");
  }

  Schedule schedule(const Group& group, std::size_t count) const override {
    if (group.size == 1) return {};
    const int parts = segments(count, segment_);
    Schedule schedule(static_cast<std::size_t>(2 * (group.size - 1) + parts - 1));
    for (int part = 0; part < parts; ++part) {
      const Range range = block(count, parts, part);
      Schedule ring = ring_reduce_scatter(group.rank, group.size, range.count);
      append(ring, mirrored(ring));
      for (std::size_t step = 0; step < ring.size(); ++step)
        for (const Move& move : ring[step])
          schedule[static_cast<std::size_t>(part) + step].push_back(
              {move.kind, move.peer, {range.begin + move.range.begin, move.range.count}});
    }
    return schedule;
  }

 private:
  std::int64_t segment_;
};

}  // namespace

extern const Row<Algorithm> all_reduce_pipelined_ring{
    "pipelined_ring", "a ring for each segment, one round after the other: keeps sums in the cache",
    [](Args& args) -> std::unique_ptr<Algorithm> { return std::make_unique<PipelinedRing>(args); }};

}  // namespace isobar::comm
