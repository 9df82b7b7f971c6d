// LocalComm: ranks as threads of one process. A message is copied once, from the sender's memory straight into the
// receiver's, when both have begun; nothing is buffered. For tests, and for a program that runs alone.
#pragma once

#include <functional>
#include <memory>

#include "isobar/comm/comm.hpp"

namespace isobar::comm {

class LocalWorld;

/// A world of one rank: this process.
std::unique_ptr<Comm> alone();

/// Runs `work` on `size` ranks, each a thread, and returns when all have ended. When ranks fail, the error of the
/// lowest rank that failed by itself is thrown: as Error("[rank n] message"), or unchanged if it is a std::logic_error.
/// A rank that waits for one that has ended fails too, so that no mistake makes this function wait forever.
/// Every `per_node` ranks, in order, count as one node.
void run_ranks(int size, const std::function<void(Comm&)>& work, int per_node = 1);

/// As run_ranks(), for every rank of an existing world; its dead ranks end without an error.
void run_threads(const std::shared_ptr<LocalWorld>& world, const std::function<void(Comm&)>& work);

/// The group of some ranks of the world in an epoch, in the given order, as `rank` (its number in the world) sees it;
/// there is one in every epoch.
std::unique_ptr<Comm> local_group(std::shared_ptr<LocalWorld> world, std::uint32_t epoch, std::span<const int> members,
                                  int rank);

}  // namespace isobar::comm
