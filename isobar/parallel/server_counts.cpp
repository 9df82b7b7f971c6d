#include "isobar/parallel/server_counts.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include <fmt/format.h>

#include "isobar/base/text.hpp"

namespace isobar::parallel {
namespace {

constexpr std::size_t most_told = 16;   // workers, each by itself
constexpr double worth_telling = 0.01;  // of the time served

int place_of(std::int64_t age) {
  if (age < AgeCounts::apart) return static_cast<int>(std::max<std::int64_t>(age, 0));
  const int power = std::bit_width(static_cast<std::uint64_t>(age)) - std::bit_width(std::uint64_t{AgeCounts::apart});
  return std::min(AgeCounts::apart + power, AgeCounts::places - 1);
}

std::string updates_of(const ServingCounts& counts, std::span<const int> ranks) {
  std::vector<std::string> each;
  for (std::size_t worker = 0; worker < std::min(counts.workers.size(), most_told); ++worker)
    each.push_back(fmt::format("rank {}: {}{}", ranks[worker], with_commas(counts.workers[worker].ages.updates()),
                               counts.workers[worker].died ? " until it died" : ""));
  if (counts.workers.size() > most_told)
    each.push_back(fmt::format("{} more ranks", counts.workers.size() - most_told));
  return join(each, ", ");
}

// Who let others wait longest, where that is worth a word.
std::string delays_of(const ServingCounts& counts, std::span<const int> ranks) {
  double waited = 0;
  for (const WorkerCounts& each : counts.workers) waited += each.waited_seconds;
  const double seconds = counts.servers.empty() ? 0 : counts.servers[0].seconds;
  if (waited <= worth_telling * seconds * static_cast<double>(counts.workers.size())) return {};
  const auto slowest = std::ranges::max_element(counts.workers, {}, &WorkerCounts::delayed_seconds);
  return fmt::format("workers waited {:.3g} s for each other, {:.0f} % of it for rank {}; ", waited,
                     100 * slowest->delayed_seconds / waited, ranks[slowest - counts.workers.begin()]);
}

std::string loads_of(const ServingCounts& counts) {
  if (counts.servers.empty()) return {};
  const auto [least, most] = std::ranges::minmax(counts.servers, {}, &ServerCounts::share);
  if (counts.servers.size() == 1) return fmt::format("the server was busy {:.0f} % of the time", 100 * most.share());
  return fmt::format("servers were busy {:.0f} to {:.0f} % of the time", 100 * least.share(), 100 * most.share());
}

}  // namespace

void AgeCounts::add(std::int64_t age) {
  ++counts_[place_of(age)];
  sum_ += age;
  most_ = std::max(most_, age);
}

void AgeCounts::add(const AgeCounts& others) {
  for (int place = 0; place < places; ++place) counts_[place] += others.counts_[place];
  sum_ += others.sum_;
  most_ = std::max(most_, others.most_);
}

std::pair<std::int64_t, std::int64_t> AgeCounts::ages(int place) {
  if (place < apart) return {place, place};
  const std::int64_t first = std::int64_t{apart} << (place - apart);
  return {first, 2 * first - 1};
}

std::int64_t AgeCounts::updates() const { return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}); }

double AgeCounts::mean() const {
  return static_cast<double>(sum_) / static_cast<double>(std::max<std::int64_t>(1, updates()));
}

std::string AgeCounts::str() const {
  std::vector<std::string> each;
  for (int place = 0; place < places; ++place) {
    if (counts_[place] == 0) continue;
    const auto [first, last] = ages(place);
    each.push_back(first == last ? fmt::format("{}: {}", first, with_commas(counts_[place]))
                                 : fmt::format("{}-{}: {}", first, last, with_commas(counts_[place])));
  }
  return join(each, ", ");
}

AgeCounts ServingCounts::ages() const {
  AgeCounts all;
  for (const WorkerCounts& each : workers) all.add(each.ages);
  return all;
}

std::string ServingCounts::summary(std::span<const int> ranks) const {
  const AgeCounts all = ages();
  if (all.updates() == 0) return {};
  return fmt::format("{} updates ({}); gradients were {:.2f} updates old on average, {} at most; {}",
                     with_commas(all.updates()), updates_of(*this, ranks), all.mean(), with_commas(all.most()),
                     strain(ranks));
}

std::string ServingCounts::strain(std::span<const int> ranks) const {
  return delays_of(*this, ranks) + loads_of(*this);
}

}  // namespace isobar::parallel
