#include "isobar/base/ids.hpp"

#include <ranges>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

namespace isobar {
namespace {

struct Apple;
struct Pear;
using AppleId = Id<Apple>;
using PearId = Id<Pear>;

static_assert(!std::is_convertible_v<AppleId, int> && !std::is_convertible_v<int, AppleId>);
static_assert(!std::is_constructible_v<AppleId, PearId> && !std::equality_comparable_with<AppleId, PearId>);
static_assert(!std::is_invocable_v<decltype([](auto& v, auto i) -> decltype(v[i]) { return v[i]; }),
                                   IdVector<AppleId, int>&, PearId>);

TEST(Ids, NoneIsBelowAllOthers) {
  const AppleId none;
  EXPECT_FALSE(none);
  EXPECT_TRUE(AppleId(0));
  EXPECT_LT(none, AppleId(0));
  EXPECT_EQ(AppleId(2) + 3, AppleId(5u));
  EXPECT_EQ(none.number(), -1);
}

TEST(Ids, IndexTheirVectorInBothDirections) {
  IdVector<AppleId, std::string> names;
  EXPECT_EQ(names.next(), AppleId(0));
  EXPECT_EQ(names.add("boskoop"), AppleId(0));
  EXPECT_EQ(names.add("elstar"), AppleId(1));
  names[AppleId(1)] += "!";
  std::string all;
  for (const AppleId id : names.ids()) all += names[id] + " ";
  for (const AppleId id : names.ids() | std::views::reverse) all += names[id] + " ";
  for (const AppleId id : ids(AppleId(1), names.next())) all += names[id];
  EXPECT_EQ(all, "boskoop elstar! elstar! boskoop elstar!");
  EXPECT_EQ(plain_numbers(std::vector{AppleId(1), AppleId(0)}), (std::vector{1, 0}));
}

TEST(Ids, VectorsOfTruthValuesWorkToo) {
  IdVector<PearId, bool> ripe(3);
  ripe[PearId(2)] = true;
  EXPECT_FALSE(ripe[PearId(0)]);
  EXPECT_TRUE(std::as_const(ripe)[PearId(2)]);
}

}  // namespace
}  // namespace isobar
