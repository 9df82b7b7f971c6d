#include "isobar/run/core_share.hpp"

#include <cstdlib>
#include <cstring>
#include <omp.h>

#include <fmt/format.h>

#include "isobar/comm/collectives.hpp"
#include "isobar/machine/cores.hpp"

namespace isobar::run {

CoreShare::CoreShare(comm::Comm& comm, int threads) {
  if (threads > 0) omp_set_num_threads(threads);
  if (comm.size() == 1) return;
  static const machine::Cores cores = machine::usable_cores();  // before this process is bound to some of them
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
  const bool background = nodes.back() > 0;  // within a node the waiting thread does the work
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

}  // namespace isobar::run
