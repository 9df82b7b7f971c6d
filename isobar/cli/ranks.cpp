#include "isobar/cli/ranks.hpp"

#include <cstdlib>
#include <cstring>
#include <omp.h>

#include <fmt/format.h>

#include "isobar/base/crash.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/machine/cores.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

// Of several messages only the first is shown, by the rank it belongs to.
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

// A failure of this rank leaves a post-mortem; one of another rank is told there.
void reported(comm_mpi::World& world, const std::function<void(comm_mpi::World&)>& work) {
  try {
    work(world);
  } catch (const comm::Aborted&) {
    throw;
  } catch (const std::exception& error) {
    report_failure(error.what());
    throw;
  }
}

}  // namespace

void on_all_ranks(const std::function<void(comm_mpi::World&)>& work) {
  const auto world = comm_mpi::join();
  catch_crashes(world->comm().rank());  // after MPI has set its handlers
  if (comm_mpi::launched().launcher.empty()) return reported(*world, work);
  const int code = exit_code_of(*world, [&](comm_mpi::World& joined) { reported(joined, work); });
  std::fflush(stdout);
  world->leave(code);
}

CoreShare::CoreShare(comm::Comm& comm, int threads) {
  if (threads > 0) omp_set_num_threads(threads);
  if (comm.size() == 1) return;
  static const machine::Cores cores = machine::usable_cores();  // later this process may be bound to some of them
  std::vector<machine::Cores> of_node;
  int place = 0;
  const std::vector<int>& nodes = comm.nodes();
  const auto all = comm::all_gather(comm, std::as_bytes(std::span(cores)));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (nodes[rank] != nodes[static_cast<std::size_t>(comm.rank())]) continue;
    if (static_cast<int>(rank) == comm.rank()) place = static_cast<int>(of_node.size());
    machine::Cores& theirs = of_node.emplace_back(all[rank].size() / sizeof(int));
    if (!theirs.empty()) std::memcpy(theirs.data(), all[rank].data(), all[rank].size());
  }
  if (threads == 0 && std::getenv("OMP_NUM_THREADS")) threads = omp_get_max_threads();
  const bool background = nodes.back() > 0;  // within a node whoever waits does the work
  const machine::Share share = machine::divide_cores(of_node, place, threads, background);
  omp_set_num_threads(share.threads);
  text_ = share.describe();
  if (std::getenv("OMP_PROC_BIND")) {
    text_ = fmt::format("{} thread{} each, bound as OMP_PROC_BIND says", share.threads, share.threads == 1 ? "" : "s");
    return;
  }
  compute_ = share.compute;
  communication_ = share.communication;
}

void CoreShare::bind_communication() const { machine::bind_thread(communication_); }
void CoreShare::bind_compute() const { machine::bind_compute_threads(compute_); }

}  // namespace isobar::cli
