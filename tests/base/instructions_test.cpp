#include "isobar/base/instructions.hpp"

#include <cstdlib>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "tests/expect_error.hpp"

namespace isobar {
namespace {

using enum Instructions;

TEST(Instructions, AreTheBestOfTheMachineBelowTheCap) {
  EXPECT_EQ(choose_instructions(v4, v3, {}).used, v4);
  EXPECT_EQ(choose_instructions(v4, v3, "v4").used, v4);
  EXPECT_EQ(choose_instructions(v4, v3, "v3").used, v3);
  EXPECT_EQ(choose_instructions(v3, v3, {}).used, v3);
  EXPECT_EQ(choose_instructions(v3, v3, "v4").used, v3);  // a cap cannot raise the level of a machine
  EXPECT_EQ(choose_instructions(v4, v4, {}).used, v4);
}

TEST(Instructions, SayWhy) {
  EXPECT_EQ(choose_instructions(v4, v3, {}).reason, "the best this processor has");
  EXPECT_EQ(choose_instructions(v3, v3, "v3").reason, "this processor has no AVX-512");
  EXPECT_EQ(choose_instructions(v4, v3, "v3").reason, "this processor has x86-64-v4, ISOBAR_INSTRUCTIONS=v3 caps it");
  EXPECT_EQ(choose_instructions(v4, v4, "v4").reason, "the program was built with it");
}

TEST(Instructions, AWrongCapIsAWrongCall) {
  for (const char* cap : {"", "v5", "avx2", "V3"}) {
    EXPECT_THROW(choose_instructions(v4, v3, cap), UsageError) << cap;
    EXPECT_HAS(tests::error_of([&] { choose_instructions(v4, v3, cap); }), "valid are v3 (AVX2) and v4 (AVX-512)");
  }
  EXPECT_HAS(tests::error_of([] { choose_instructions(v4, v4, "v3"); }), "-DISOBAR_ARCH=x86-64-v3");
}

// Every room with kernels is tested a second time with the variable set; this shows that it has an effect.
TEST(Instructions, OfThisProcessObeyTheVariable) {
  EXPECT_EQ(instructions(), instruction_choice().used);
  const char* const cap = std::getenv("ISOBAR_INSTRUCTIONS");
  if (cap && std::string_view(cap) == "v3") {
    EXPECT_EQ(instructions(), v3);
  }
  EXPECT_EQ(name_of(v3), "x86-64-v3");
  EXPECT_EQ(name_of(v4), "x86-64-v4");
}

TEST(Dispatched, CallsWhatItIsMadeFrom) {
  std::vector<float> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  int calls = 0;
  const auto sum = [&](std::size_t begin, std::size_t end) {
    ++calls;
    double total = 0;
    for (std::size_t i = begin; i < end; ++i) total += numbers[i];
    return total;
  };
  const Dispatched<double(std::size_t, std::size_t)> dispatched = sum;
  EXPECT_EQ(dispatched(0, 1000), 499500);
  const auto copy = dispatched;
  EXPECT_EQ(copy(10, 12), 21);
  EXPECT_EQ(calls, 2);
}

TEST(Dispatched, LetsErrorsThrough) {
  EXPECT_HAS(tests::error_of([] { run_dispatched([] { fail("inside"); }); }), "inside");
}

TEST(Dispatched, KnowsInsideWhatIsUsed) {
  Instructions inside{};
  run_dispatched([&] { inside = instructions(); });
  EXPECT_EQ(inside, instructions());
}

}  // namespace
}  // namespace isobar
