// Every algorithm with real messages between ranks that are threads, with all codecs.
#include <bit>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"
#include "isobar/comm/schedule.hpp"

#include "tests/comm/added_codecs.hpp"
#include "tests/comm/members.hpp"

namespace isobar::comm {
namespace {

float schedule_messages_number(int rank, std::size_t i) {
  const auto mixed = static_cast<std::uint32_t>((i + 1) * 2'654'435'761u + static_cast<std::uint32_t>(rank) * 40'503u);
  return static_cast<float>(mixed >> 8) * 0x1p-23f - 1;
}

// What a rank has before: numbers where it contributes, elsewhere values that must not show up in a result.
std::vector<float> before(Collective collective, int rank, int size, std::size_t count) {
  Range own{0, count};
  if (collective == Collective::all_gather) own = block(count, size, rank);
  if (collective == Collective::broadcast && rank > 0) own = {};
  std::vector<float> data(count, std::nanf(""));
  for (std::size_t i = own.begin; i < own.end(); ++i) data[i] = schedule_messages_number(rank, i);
  return data;
}

// The right result for number i, and the sum of absolute values to which errors are relative.
std::pair<double, double> wanted(Collective collective, int size, std::size_t count, std::size_t i) {
  int owner = size - 1;
  while (collective == Collective::all_gather && i < block(count, size, owner).begin) --owner;
  if (collective == Collective::broadcast) owner = 0;
  if (collective == Collective::all_gather || collective == Collective::broadcast)
    return {schedule_messages_number(owner, i), std::abs(schedule_messages_number(owner, i))};
  double sum = 0, sizes = 0;
  for (int rank = 0; rank < size; ++rank) {
    sum += schedule_messages_number(rank, i);
    sizes += std::abs(schedule_messages_number(rank, i));
  }
  return {sum, sizes};
}

double error_of_rounding(const codec::Codec& codec) {
  return codec.is_plain() ? 0x1p-24 : codec.describe() == "bf16" ? 0x1p-8 : 0x1p-11;
}

using Results = std::vector<std::vector<float>>;

void expect_right(const Member& member, const Results& results, std::size_t count, const codec::Codec& codec,
                  std::size_t rounds) {
  const int size = static_cast<int>(results.size());
  const bool moves_only = member.collective == Collective::all_gather || member.collective == Collective::broadcast;
  // Each round may round both the sent and the added numbers; float16 loses more for numbers below 2^-14.
  const double errors = moves_only ? (codec.is_plain() ? 0 : 1) : 2 * static_cast<double>(rounds) + 1;
  const double tiny = codec.describe() == "fp16" ? 0x1p-25 : 0;
  const std::string what =
      fmt::format("{}, {} ranks, {} numbers, codec {}", member.spec.str(), size, count, codec.describe());
  for (int rank = 0; rank < size; ++rank) {
    const std::vector<float>& data = results[static_cast<std::size_t>(rank)];
    const Range range = member.collective == Collective::reduce_scatter ? block(count, size, rank) : Range{0, count};
    if (member.collective != Collective::reduce_scatter && count > 0) {
      ASSERT_EQ(std::memcmp(data.data(), results[0].data(), count * sizeof(float)), 0) << what << ", rank " << rank;
      if (rank > 0) continue;
    }
    for (std::size_t i = range.begin; i < range.end(); ++i) {
      const auto [sum, sizes] = wanted(member.collective, size, count, i);
      const double error = std::abs(data[i] - sum);  // NaN fails
      ASSERT_TRUE(error <= errors * (error_of_rounding(codec) * sizes * 1.1 + tiny))
          << what << ", rank " << rank << ", number " << i << ": " << data[i] << " instead of " << sum;
    }
  }
}

void walk(const std::vector<const Member*>& members, int size, int per_node, std::span<const std::size_t> counts) {
  struct Run {
    const Member* member;
    std::size_t count;
    const codec::Codec* codec;
    Results results;
    std::size_t rounds = 0;
  };
  std::vector<Run> runs;
  for (const Member* member : members)
    for (const std::size_t count : counts)
      for (const codec::Codec* codec : added_codecs())
        if (member->serves(size, (size + per_node - 1) / per_node))
          runs.push_back({member, count, codec, Results(static_cast<std::size_t>(size))});
  run_ranks(
      size,
      [&](Comm& comm) {
        for (Run& run : runs) {
          std::vector<float> data = before(run.member->collective, comm.rank(), size, run.count);
          const Schedule schedule = run.member->algorithm->schedule(comm.group(), run.count);
          comm::run(comm, schedule, {data, *run.codec});
          run.results[static_cast<std::size_t>(comm.rank())] = std::move(data);
          if (comm.rank() == 0) run.rounds = schedule.size();
        }
      },
      per_node);
  for (const Run& run : runs) expect_right(*run.member, run.results, run.count, *run.codec, run.rounds);
}

constexpr std::size_t short_counts[] = {0, 1, 1237}, long_counts[] = {1'000'000};

TEST(ScheduleMessagesConformance, AllMembersOn1To17Ranks) {
  const std::vector<Member> all = all_members();
  std::vector<const Member*> members;
  for (const Member& member : all)
    if (!member.uses_nodes()) members.push_back(&member);
  for (int size = 1; size <= 17; ++size) walk(members, size, 1, short_counts);
}

TEST(ScheduleMessagesConformance, NodesOfSeveralRanks) {
  const std::vector<Member> all = all_members();
  std::vector<const Member*> members;
  for (const Member& member : all)
    if (member.uses_nodes() &&
        (member.spec.arguments().empty() || *member.spec.find("outer") == Value(Spec("recursive_doubling"))))
      members.push_back(&member);
  for (int per_node = 1; per_node <= 4; ++per_node)
    for (int size = 2; size <= 17; ++size) walk(members, size, per_node, std::span(short_counts).last(1));
}

TEST(ScheduleMessagesConformance, AMillionNumbers) {
  const std::vector<Member> all = all_members();
  std::vector<const Member*> members;
  for (const Member& member : all)
    if (member.spec.arguments().empty()) members.push_back(&member);
  for (const auto& [size, per_node] : {std::pair(2, 1), std::pair(4, 2), std::pair(5, 2)})
    for (const Member* member : members) walk({member}, size, per_node, long_counts);
}

TEST(ScheduleMessagesConformance, ReproducibleGivesTheBitsOfABalancedTree) {
  const auto reproducible = make(all_reduces(), "reproducible", "algorithm");
  for (const int size : {1, 2, 4, 8, 16}) {
    const std::size_t count = 1237;
    std::vector<std::vector<float>> tree;
    for (int rank = 0; rank < size; ++rank) tree.push_back(before(Collective::all_reduce, rank, size, count));
    for (; tree.size() > 1; tree.resize(tree.size() / 2))
      for (std::size_t k = 0; k < tree.size() / 2; ++k)
        for (std::size_t i = 0; i < count; ++i) tree[k][i] = tree[2 * k][i] + tree[2 * k + 1][i];
    run_ranks(size, [&](Comm& comm) {
      std::vector<float> data = before(Collective::all_reduce, comm.rank(), size, count);
      run(comm, reproducible->schedule(comm.group(), count), {data});
      EXPECT_EQ(data, tree[0]);
    });
  }
}

TEST(ScheduleMessagesConformance, WhatIsNotANumberReachesAll) {
  for (const Member& member : all_members()) {
    if (member.collective != Collective::all_reduce || !member.spec.arguments().empty()) continue;
    for (const codec::Codec* codec : added_codecs())
      run_ranks(4, [&](Comm& comm) {
        std::vector<float> data(5, 1.0f);
        if (comm.rank() == 1) data[1] = std::nanf("");
        if (comm.rank() == 2) data[3] = INFINITY;
        run(comm, member.algorithm->schedule(comm.group(), data.size()), {data, *codec});
        EXPECT_TRUE(std::isnan(data[1])) << member.spec.str();
        EXPECT_EQ(data[3], INFINITY) << member.spec.str();
        for (const int i : {0, 2, 4}) EXPECT_EQ(data[static_cast<std::size_t>(i)], 4) << member.spec.str();
      });
  }
}

}  // namespace
}  // namespace isobar::comm
