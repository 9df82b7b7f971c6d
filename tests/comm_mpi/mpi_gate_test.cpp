#include "isobar/comm_mpi/mpi_gate.hpp"

#include <future>

#include <gtest/gtest.h>

namespace isobar::comm_mpi::tests {
namespace {

bool another_thread_may_enter(MpiGate& gate) {
  return std::async(std::launch::async, [&] { return gate.try_enter().owns_lock(); }).get();
}

TEST(MpiGate, lets_one_thread_in_at_a_time) {
  MpiGate gate;
  {
    const auto lock = gate.enter();
    EXPECT_FALSE(another_thread_may_enter(gate));
  }
  EXPECT_TRUE(another_thread_may_enter(gate));
}

TEST(MpiGate, once_closed_only_those_who_clean_up_enter) {
  MpiGate gate;
  gate.close();
  EXPECT_FALSE(gate.is_open());
  EXPECT_FALSE(gate.try_enter());
  EXPECT_FALSE(gate.try_enter(std::chrono::seconds(1)));
  EXPECT_TRUE(gate.enter());
}

}  // namespace
}  // namespace isobar::comm_mpi::tests
