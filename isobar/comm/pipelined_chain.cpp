// Broadcast along a chain: every rank passes segments on to the next while further ones arrive. S segments take
// S + P - 2 rounds of n / S numbers: for very long messages.
#include "isobar/comm/compose.hpp"

namespace isobar::comm {
namespace {

class PipelinedChain final : public Algorithm {
 public:
  explicit PipelinedChain(Args& args) : segment_(args.integer("segment", 1 << 17)) {
    args.require(segment_ >= 1, "segment must be at least 1");
  }

  Schedule schedule(const Group& group, std::size_t count) const override {
    if (group.size == 1) return {};
    const int parts = segments(count, segment_);
    Schedule schedule(static_cast<std::size_t>(parts + group.size - 2));
    for (int part = 0; part < parts; ++part) {
      const auto round = static_cast<std::size_t>(group.rank + part);  // in which this rank passes it on
      const Range range = block(count, parts, part);
      if (group.rank > 0) add(schedule[round - 1], Move::Kind::receive, group.rank - 1, range);
      if (group.rank + 1 < group.size) add(schedule[round], Move::Kind::send, group.rank + 1, range);
    }
    return schedule;
  }

 private:
  std::int64_t segment_;
};

}  // namespace

extern const Row<Algorithm> broadcast_pipelined_chain{
    "pipelined_chain", "segments go from rank to rank: for very long messages",
    [](Args& args) -> std::unique_ptr<Algorithm> { return std::make_unique<PipelinedChain>(args); }};

}  // namespace isobar::comm
