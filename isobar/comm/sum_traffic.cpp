// What a sum will send, counted from its schedule.
#include <algorithm>

#include "isobar/codec/parcel.hpp"
#include "isobar/comm/choice.hpp"
#include "isobar/comm/reducers.hpp"
#include "isobar/comm/sum_tree.hpp"
#include "isobar/comm/walk.hpp"

namespace isobar::comm {
namespace {

Traffic sent_in(const Schedule& schedule, int rank, const codec::Codec& codec) {
  Traffic traffic;
  for (const Round& round : schedule)
    for (const Move& move : round)
      if (move.is_message_of(rank)) {
        traffic.messages += Walk::messages(move.range.count);
        traffic.bytes += codec.bound(move.range.count);
      }
  return traffic;
}

}  // namespace

std::span<const Range> parts_of(const SumRequest& sum) {
  return sum.parts.empty() ? std::span(&sum.range, 1) : sum.parts;
}

std::size_t gathered_bytes(const SumRequest& sum, const codec::Codec& codec) {
  std::vector<std::size_t> counts;
  for (const Range& part : parts_of(sum)) counts.push_back(part.count);
  return parcel_bound(codec, counts);
}

Traffic traffic_of(const Group& group, const SumRequest& sum, const ReducerOptions& options) {
  if (group.size == 1) return {};
  const codec::Codec& codec = sum.exact ? *codec::plain() : *options.codec;
  if (codec.carriage() == codec::Carriage::gathered) {
    const std::int64_t others = group.size - 1;  // one message goes round for each rank
    return {others, others * static_cast<std::int64_t>(gathered_bytes(sum, codec))};
  }
  const int nodes = group.nodes.empty() ? group.size : std::ranges::max(group.nodes) + 1;
  if (adds_in_shared_memory(options, nodes)) {
    const std::size_t slice = slice_of(sum.range, group.size, group.rank).count;
    return {group.size - 1, static_cast<std::int64_t>((group.size - 1) * slice * sizeof(float))};
  }
  const std::vector<Spec> list =
      candidates(options.algorithm.name() == "native" ? "auto" : options.algorithm, nodes > 1 && nodes < group.size);
  const Spec& algorithm = list[chosen(unmeasured_choice(list.size()), sum.range.count)];
  return sent_in(make(all_reduces(), algorithm, "algorithm")->schedule(group, sum.range.count), group.rank, codec);
}

}  // namespace isobar::comm
