#include "isobar/comm/local_crew.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include "isobar/comm/collectives.hpp"

#include "tests/expect_error.hpp"

namespace isobar::comm {
namespace {

int all(int available) { return available; }

TEST(LocalCrew, WithoutADeathItWorksOnceAndSparesAreNotNeeded) {
  std::atomic<int> worked = 0, not_needed = 0;
  const CrewEnd end = run_crew(3, 2, [&](Crew& crew, int rank) {
    EXPECT_TRUE(crew.elastic());
    const auto group = crew.muster(all);
    if (!group) {
      EXPECT_GE(rank, 3);
      ++not_needed;
      return;
    }
    EXPECT_TRUE(group->elastic());
    EXPECT_EQ(group->epoch(), first_epoch);
    EXPECT_EQ(duplicate(*group)->epoch(), first_epoch);
    EXPECT_EQ(all_gather_number(*group, rank), (std::vector<std::int64_t>{0, 1, 2}));
    ++worked;
  });
  EXPECT_EQ(worked, 3);
  EXPECT_EQ(not_needed, 2);
  EXPECT_TRUE(end.died.empty());
  EXPECT_FALSE(end.gave_up);
}

// Musters until a whole group has done its work; returns the members of every group it was in.
template <class F>
std::vector<std::vector<int>> work_until_done(Crew& crew, F work, const std::function<int(int)>& usable = all) {
  std::vector<std::vector<int>> groups;
  while (const auto group = crew.muster(usable)) {
    groups.push_back(group->members());
    try {
      work(*group);
      return groups;
    } catch (const MembersChanged&) {
    }
  }
  return groups;
}

TEST(LocalCrew, ASpareTakesThePlaceOfTheDead) {
  std::mutex mutex;
  std::map<int, std::vector<std::vector<int>>> seen;
  const auto at_work = [](const std::string& note) { return note == "works"; };
  const CrewEnd end = run_crew(3, 1,
                               [&](Crew& crew, int rank) {
                                 const auto groups = work_until_done(crew, [](Comm& group) {
                                   group.note("works");
                                   barrier(group);
                                 });
                                 const std::lock_guard lock(mutex);
                                 seen[rank] = groups;
                               },
                               {{.rank = 1, .note = at_work}});
  EXPECT_EQ(end.died, std::vector<int>{1});
  const std::vector<int> before = {0, 1, 2}, after = {0, 2, 3};
  EXPECT_EQ(seen[0], (std::vector<std::vector<int>>{before, after}));
  EXPECT_EQ(seen[2], (std::vector<std::vector<int>>{before, after}));
  EXPECT_EQ(seen[3], (std::vector<std::vector<int>>{after}));
  EXPECT_FALSE(seen.contains(1));
}

// Of the three ranks left only two can work together: the third stands by until it is needed.
TEST(LocalCrew, WhoIsOneTooManyStandsByUntilItIsNeeded) {
  const auto even = [](int available) { return available == 3 ? 2 : available; };
  std::mutex mutex;
  std::set<std::vector<int>> groups;
  const CrewEnd end = run_crew(4, 0,
                               [&](Crew& crew, int) {
                                 const auto mine = work_until_done(
                                     crew,
                                     [](Comm& group) {
                                       group.note(fmt::format("{} ranks", group.size()));
                                       barrier(group);
                                       barrier(group);
                                     },
                                     even);
                                 const std::lock_guard lock(mutex);
                                 groups.insert(mine.begin(), mine.end());
                               },
                               {{.rank = 3, .note = [](const std::string& note) { return note == "4 ranks"; }},
                                {.rank = 0, .note = [](const std::string& note) { return note == "2 ranks"; }}});
  EXPECT_EQ(end.died, (std::vector<int>{3, 0}));
  EXPECT_EQ(groups, (std::set<std::vector<int>>{{0, 1, 2, 3}, {0, 1}, {1, 2}}));
}

// Spares take no part in the work: no rank notices, and the work ends without them.
TEST(LocalCrew, TheDeathOfASpareChangesNothing) {
  std::atomic<int> changes = 0;
  const CrewEnd end =
      run_crew(2, 1,
               [&](Crew& crew, int) {
                 changes += static_cast<int>(work_until_done(crew, [](Comm& group) { barrier(group); }).size()) - 1;
               },
               {{.rank = 2, .muster = 0}});
  EXPECT_EQ(end.died, std::vector<int>{2});
  EXPECT_LE(changes, 0);
}

TEST(LocalCrew, ADeathWhileTheOthersMusterIsADeathToo) {
  const CrewEnd end = run_crew(4, 0,
                               [&](Crew& crew, int rank) {
                                 const auto groups = work_until_done(crew, [](Comm& group) {
                                   barrier(group);
                                   if (group.epoch() == first_epoch) barrier(group);
                                 });
                                 EXPECT_EQ(groups.back(), (std::vector<int>{0, 3})) << rank;
                               },
                               {{.rank = 1, .message = 1}, {.rank = 2, .muster = 1}});
  EXPECT_EQ(end.died, (std::vector<int>{1, 2}));
}

TEST(LocalCrew, SparesAloneGoOnWhenAllOthersAreDead) {
  std::atomic<int> alone = 0;
  const CrewEnd end = run_crew(2, 1,
                               [&](Crew& crew, int rank) {
                                 for (const auto& group : work_until_done(crew, [](Comm& group) {
                                        group.note("works");
                                        barrier(group);
                                      }))
                                   alone += rank == 2 && group == std::vector<int>{2};
                               },
                               {{.rank = 0, .note = [](const std::string&) { return true; }},
                                {.rank = 1, .note = [](const std::string&) { return true; }}});
  EXPECT_EQ(end.died.size(), 2u);
  EXPECT_EQ(alone, 1);
}

TEST(LocalCrew, AFailureEndsAllAndIsTold) {
  EXPECT_EQ(tests::error_of([] {
              run_crew(3, 1, [](Crew& crew, int rank) {
                const auto group = crew.muster(all);
                if (rank == 1) fail("the disk is full");
                barrier(*group);
              });
            }),
            "[rank 1] the disk is full");
}

TEST(LocalCrew, WhoGivesUpEndsAllWithoutAnError) {
  const CrewEnd end = run_crew(3, 1, [](Crew& crew, int rank) {
    const auto group = crew.muster(all);
    if (rank == 1) crew.give_up("its weights are late");
    if (group) barrier(*group);
  });
  EXPECT_EQ(end.gave_up, "its weights are late");
}

TEST(LocalCrew, TheDeadDoNotAnswerAndAreNamed) {
  run_crew(
      2, 0,
      [](Crew& crew, int rank) {
        auto group = crew.muster(all);
        if (rank == 1) group->note("dies");
        try {
          for (;;) group->check();
        } catch (const MembersChanged& change) {
          EXPECT_STREQ(change.what(), "rank 1 has died");
        }
        const auto notes = group->whereabouts(1);
        EXPECT_TRUE(notes[0]);
        EXPECT_FALSE(notes[1]);
        EXPECT_THROW(group->share(10), MembersChanged);
        EXPECT_THROW(duplicate(*group), MembersChanged);
        EXPECT_THROW(group->send(0, 0, {}), MembersChanged);
        EXPECT_THROW(guarded(*group, [&] { barrier(*group); }), MembersChanged);
        group = crew.muster(all);
        EXPECT_EQ(group->size(), 1);
        EXPECT_EQ(group->epoch(), first_epoch + 1);
        barrier(*group);
      },
      {{.rank = 1, .note = [](const std::string& note) { return note == "dies"; }}}, 2);
}

}  // namespace
}  // namespace isobar::comm
