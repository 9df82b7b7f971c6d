#include "isobar/feeding/stage_plan.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/base/random.hpp"
#include "isobar/base/text.hpp"

namespace isobar::feeding {

StagePlan::StagePlan(StageList list, Scheme scheme, std::int64_t quota, std::uint64_t seed,
                     std::span<const std::string> nodes)
    : list_(std::move(list)), scheme_(scheme), quota_(quota), seed_(seed) {
  const auto files = std::ssize(list_.files);
  if (scheme != Scheme::all) {
    const char* name = scheme == Scheme::shard ? "shard" : "quota";
    if (list_.sources.size() > 1)
      fail_usage("staging: with scheme={} ranks see different files, and labels in other files would not fit them",
                 name);
    if (list_.sources[0].single)
      fail_usage("staging: scheme={} shares out files, and path names just one; scheme=all copies it", name);
    if (scheme == Scheme::shard && files < std::ssize(nodes))
      fail_usage("staging: scheme=shard needs a file for each of {} ranks, there are {}", nodes.size(), files);
    if (scheme == Scheme::quota && quota < 1)
      fail_usage("staging: scheme=quota needs quota >= 1, the files each rank draws; it is {}", quota);
  }
  std::vector<std::string> known;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const auto found = std::ranges::find(known, nodes[rank]);
    node_of_.push_back(found - known.begin());
    if (found == known.end()) {
      known.push_back(nodes[rank]);
      ranks_of_.emplace_back();
    }
    ranks_of_[node_of_.back()].push_back(rank);
  }
  wants_.assign(ranks_of_.size(), std::vector<bool>(list_.files.size(), scheme == Scheme::all));
  if (scheme == Scheme::all) return;
  for (int rank = 0; rank < size(); ++rank)
    for (const std::int64_t file : seen_by(rank)) wants_[node_of(rank)][file] = true;
}

std::vector<std::int64_t> StagePlan::seen_by(int rank) const {
  const auto files = std::ssize(list_.files);
  std::vector<std::int64_t> seen;
  if (scheme_ == Scheme::quota) {
    const Random random = Random(seed_, 0x57).sub(rank);
    for (std::int64_t draw = 0; draw < quota_; ++draw) seen.push_back(random.below(draw, files));
    return seen;
  }
  const bool all = scheme_ == Scheme::all;
  for (std::int64_t file = all ? 0 : rank; file < files; file += all ? 1 : size()) seen.push_back(file);
  return seen;
}

std::int64_t StagePlan::bytes_for(int node) const {
  std::int64_t sum = 0;
  for (std::size_t f = 0; f < list_.files.size(); ++f)
    if (wants_[node][f]) sum += list_.files[f].bytes;
  return sum;
}

int StagePlan::writer(std::int64_t file, int node) const {
  if (node_of(owner(file)) == node) return owner(file);
  const std::vector<int>& ranks = ranks_of(node);
  return ranks[file / size() % ranks.size()];
}

bool StagePlan::sends(int rank, int to, std::int64_t file) const {
  return rank != to && owner(file) == rank && wants(node_of(to), file) && writer(file, node_of(to)) == to;
}

std::string StagePlan::fingerprint(int node) const {
  const std::vector<std::byte> packed = list_.pack();
  std::uint64_t hash = hash_text({reinterpret_cast<const char*>(packed.data()), packed.size()});
  hash = mix(hash, static_cast<std::uint64_t>(scheme_));
  if (scheme_ != Scheme::all) {  // a copy of everything serves any number of ranks
    hash = mix(mix(hash, size()), mix(quota_, seed_));
    for (const int rank : ranks_of(node)) hash = mix(hash, rank);
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace isobar::feeding
