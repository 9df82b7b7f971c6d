#include "isobar/machine/cores.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace isobar::machine {
namespace {

TEST(Cores, RanksThatMayUseTheSameCoresGetEqualParts) {
  const std::vector<Cores> ranks(2, Cores{0, 1, 2, 3});
  const Share first = divide_cores(ranks, 0, 0, false), second = divide_cores(ranks, 1, 0, false);
  EXPECT_EQ(first.compute, (Cores{0, 1}));
  EXPECT_EQ(second.compute, (Cores{2, 3}));
  EXPECT_EQ(second.threads, 2);
  EXPECT_EQ(second.describe(), "2 threads each, bound to cores 2-3; communication shares them");
  EXPECT_FALSE(first.by_launcher);
}

TEST(Cores, WhatTheLauncherBoundStays) {
  const Share share = divide_cores({{0, 1}, {4, 6, 7}}, 1, 0, true);
  EXPECT_EQ(share.compute, (Cores{4, 6, 7}));
  EXPECT_EQ(share.threads, 3);
  EXPECT_EQ(share.describe(), "3 threads each, bound by the launcher to cores 4, 6-7; communication shares them");
}

TEST(Cores, CommunicationGetsCoresOfItsOwnWhereThereAreEnough) {
  Cores all;
  for (int i = 0; i < 16; ++i) all.push_back(i);
  const std::vector<Cores> ranks(2, all);
  const Share many = divide_cores(ranks, 1, 0, true), asked = divide_cores(ranks, 1, 5, false);
  EXPECT_EQ(many.threads, 7);
  EXPECT_EQ(many.compute, (Cores{8, 9, 10, 11, 12, 13, 14}));
  EXPECT_EQ(many.communication, (Cores{15}));
  EXPECT_EQ(many.describe(), "7 threads each, bound to cores 8-14; communication on 15");
  EXPECT_EQ(divide_cores(ranks, 1, 0, false).threads, 8);  // no thread communicates in the background
  EXPECT_EQ(asked.threads, 5);
  EXPECT_EQ(asked.communication, (Cores{13, 14, 15}));
}

TEST(Cores, FewerCoresThanRanksAreNotDivided) {
  const Share share = divide_cores(std::vector<Cores>(3, Cores{0, 1}), 2, 0, true);
  EXPECT_EQ(share.threads, 1);
  EXPECT_FALSE(share.bound());
  EXPECT_EQ(share.describe(), "1 thread each, not bound: there are fewer cores than ranks");
}

TEST(Cores, AThreadAndThoseItStartsStayWhereTheyAreBound) {
  const Cores before = usable_cores();
  ASSERT_FALSE(before.empty());
  Cores bound, inherited;
  std::jthread([&] {
    ASSERT_TRUE(bind_thread({before.back()}));
    bound = usable_cores();
    std::jthread([&] { inherited = usable_cores(); }).join();
    ASSERT_TRUE(bind_compute_threads(before));
    EXPECT_EQ(usable_cores(), before);
  }).join();
  EXPECT_EQ(bound, Cores{before.back()});
  EXPECT_EQ(inherited, bound);
  EXPECT_EQ(usable_cores(), before);
}

}  // namespace
}  // namespace isobar::machine
