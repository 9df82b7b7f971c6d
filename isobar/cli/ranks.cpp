#include "isobar/cli/ranks.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "isobar/post_mortem/crash.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

// Of several messages only the first is shown, by the rank that failed.
void show(comm_mpi::World& world, const std::exception& error) {
  if (const auto words = comm_mpi::last_words(world, error)) fmt::print(stderr, "isobar: {}\n", *words);
}

int exit_code_of(comm_mpi::World& world, const std::function<void(comm_mpi::World&)>& work) {
  try {
    work(world);
    return stop_requested() ? exit_interrupted : 0;
  } catch (const UsageError& error) {
    show(world, error);
    return exit_usage;
  } catch (const std::bad_alloc&) {
    show(world, Error("out of memory"));
  } catch (const std::exception& error) {
    show(world, error);
  }
  return exit_failed;
}

// A failure of this rank leaves a post-mortem; failures of other ranks are reported by those ranks.
void reported(comm_mpi::World& world, const std::function<void(comm_mpi::World&)>& work) {
  try {
    work(world);
  } catch (const comm::Aborted&) {
    throw;
  } catch (const std::exception& error) {
    post_mortem::report_failure(error.what());
    throw;
  }
}

}  // namespace

void on_all_ranks(const std::function<void(comm_mpi::World&)>& work) {
  const auto world = comm_mpi::join();
  post_mortem::catch_crashes(world->comm().rank());  // after MPI has set its handlers
  if (comm_mpi::launched().launcher.empty()) return reported(*world, work);
  const int code = exit_code_of(*world, [&](comm_mpi::World& joined) { reported(joined, work); });
  std::fflush(stdout);
  world->leave(code);
}

}  // namespace isobar::cli
