#include "isobar/comm/local_comm.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <thread>

#include "isobar/base/clock.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_world.hpp"

namespace isobar::comm {
namespace {

class LocalTransfer final : public Transfer {
 public:
  LocalTransfer(std::shared_ptr<LocalWorld> world, const Channel& channel, const Side& side)
      : world_(std::move(world)), channel_(channel), side_(std::make_shared<Side>(side)) {
    world_->begin(channel_, side_);
  }
  ~LocalTransfer() override { world_->withdraw(channel_, side_); }

  bool finishes_within(double seconds) override { return world_->wait(channel_, side_, seconds); }
  void finish() override { world_->wait(channel_, side_, -1); }

 private:
  std::shared_ptr<LocalWorld> world_;
  Channel channel_;
  std::shared_ptr<Side> side_;
};

class LocalMemory final : public SharedMemory {
 public:
  LocalMemory(std::shared_ptr<std::vector<std::byte>> memory, std::size_t bytes, std::size_t stride)
      : memory_(std::move(memory)), bytes_(bytes), stride_(stride) {
    void* begin = memory_->data();
    std::size_t space = memory_->size();
    first_ = static_cast<std::byte*>(std::align(64, 1, begin, space));
  }
  std::span<std::byte> part(int rank) const override {
    return {first_ + stride_ * static_cast<std::size_t>(rank), bytes_};
  }

 private:
  std::shared_ptr<std::vector<std::byte>> memory_;
  std::size_t bytes_, stride_;
  std::byte* first_;
};

class LocalComm final : public Comm {
 public:
  LocalComm(std::shared_ptr<LocalWorld> world, std::uint64_t group, std::uint32_t epoch, std::vector<int> members,
            int rank)
      : world_(std::move(world)), group_(group), epoch_(epoch), members_(std::move(members)), rank_(rank) {
    std::map<int, int> numbers;  // of a node in the world -> in this group
    for (const int member : members_)
      nodes_.push_back(numbers.try_emplace(world_->node(member), static_cast<int>(numbers.size())).first->second);
  }

  int rank() const override { return rank_; }
  const std::vector<int>& members() const override { return members_; }
  std::uint32_t epoch() const override { return epoch_; }
  bool elastic() const override { return world_->elastic(); }
  const std::vector<int>& nodes() const override { return nodes_; }

  Ticket start_send(int to, int tag, std::span<const std::byte> bytes) override {
    const int self = in_world(rank_), peer = in_world(to);
    ++messages_;
    bytes_ += static_cast<std::int64_t>(bytes.size());
    return Ticket(std::make_unique<LocalTransfer>(
        world_, Channel{group_, epoch_, self, peer, tag},
        Side{.sends = true, .self = self, .peer = peer, .source = bytes.data(), .length = bytes.size()}));
  }
  Ticket start_receive(int from, int tag, std::span<std::byte> bytes) override {
    const int self = in_world(rank_), peer = in_world(from);
    return Ticket(std::make_unique<LocalTransfer>(
        world_, Channel{group_, epoch_, peer, self, tag},
        Side{.self = self, .peer = peer, .target = bytes.data(), .length = bytes.size()}));
  }

  bool abort(const std::string& message) override { return world_->abort(in_world(rank_), message); }
  void check() const override { world_->check(in_world(rank_), epoch_); }
  double now() const override { return now_seconds(); }
  Traffic traffic() const override { return {messages_, bytes_}; }
  void note(std::string what) override { world_->note(in_world(rank_), std::move(what)); }
  std::vector<std::optional<std::string>> whereabouts(double) override {
    std::vector<std::optional<std::string>> all;
    for (const int member : members_) all.push_back(world_->noted(member));
    return all;
  }

  std::shared_ptr<SharedMemory> share(std::size_t bytes) override {
    expects(std::ranges::all_of(nodes_, [](int node) { return node == 0; }), "memory shared within one node");
    const std::size_t stride = (bytes + 63) / 64 * 64;
    auto memory = world_->memory(group_, epoch_, shares_++, stride * members_.size() + 64);
    barrier(*this);  // until all have it: it goes with the last who holds it
    return std::make_shared<LocalMemory>(std::move(memory), bytes, stride);
  }

  std::unique_ptr<Comm> split(int color, int key) override {
    const int mine[] = {color, key};
    const std::vector<Bytes> all = all_gather(*this, std::as_bytes(std::span(mine)));
    const std::uint64_t serial = splits_++;
    if (color < 0) return nullptr;
    std::vector<std::pair<int, int>> chosen;  // key, rank
    for (int rank = 0; rank < size(); ++rank) {
      int theirs[2];
      std::memcpy(theirs, all[static_cast<std::size_t>(rank)].data(), sizeof theirs);
      if (theirs[0] == color) chosen.emplace_back(theirs[1], rank);
    }
    std::ranges::sort(chosen);
    std::vector<int> ranks;
    for (const auto& [_, rank] : chosen) ranks.push_back(rank);
    return part(world_->group(group_, serial, color), ranks, epoch_);
  }

  std::unique_ptr<Comm> regroup(std::span<const int> ranks, std::uint32_t epoch) override {
    expects(epoch != epoch_, "another epoch for another list of members");
    return part(group_, ranks, epoch);
  }

 private:
  int in_world(int rank) const {
    expects(rank >= 0 && rank < size(), "a rank of the group");
    return members_[static_cast<std::size_t>(rank)];
  }

  std::unique_ptr<Comm> part(std::uint64_t group, std::span<const int> ranks, std::uint32_t epoch) const {
    const auto self = std::ranges::find(ranks, rank_);
    expects(self != ranks.end(), "a group with this rank in it");
    std::vector<int> members;
    for (const int rank : ranks) members.push_back(in_world(rank));
    return std::make_unique<LocalComm>(world_, group, epoch, std::move(members),
                                       static_cast<int>(self - ranks.begin()));
  }

  std::shared_ptr<LocalWorld> world_;
  std::uint64_t group_;
  std::uint32_t epoch_;
  std::vector<int> members_;
  int rank_;
  std::vector<int> nodes_;
  std::atomic<std::uint64_t> splits_ = 0, shares_ = 0;
  std::atomic<std::int64_t> messages_ = 0, bytes_ = 0;
};

std::vector<int> first_numbers(int count) {
  std::vector<int> list;
  for (int i = 0; i < count; ++i) list.push_back(i);
  return list;
}

}  // namespace

std::unique_ptr<Comm> alone() {
  return std::make_unique<LocalComm>(std::make_shared<LocalWorld>(1), 0, 0, first_numbers(1), 0);
}

std::unique_ptr<Comm> local_group(std::shared_ptr<LocalWorld> world, std::uint32_t epoch, std::vector<int> members,
                                  int rank) {
  return std::make_unique<LocalComm>(std::move(world), 0, epoch, std::move(members), rank);
}

void run_ranks(int size, const std::function<void(Comm&)>& work, int per_node) {
  expects(size >= 1 && per_node >= 1, "at least one rank, and one per node");
  run_threads(std::make_shared<LocalWorld>(size, per_node), work);
}

void run_threads(const std::shared_ptr<LocalWorld>& world, const std::function<void(Comm&)>& work) {
  const int size = world->size();
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
  {
    std::vector<std::jthread> threads;
    try {
      for (int rank = 0; rank < size; ++rank)
        threads.emplace_back([&, rank] {
          LocalComm comm(world, 0, 0, first_numbers(size), rank);
          try {
            guarded(comm, [&] { work(comm); });
          } catch (...) {
            errors[static_cast<std::size_t>(rank)] = std::current_exception();
          }
          world->leave(rank);
        });
    } catch (...) {  // no more threads to be had: those that began must not wait for the others
      world->abort(static_cast<int>(threads.size()), "its thread could not be started");
      throw;
    }
  }
  std::exception_ptr told;  // of another rank, by a message
  const std::vector<int> died = world->died();
  for (int rank = 0; rank < size; ++rank) {
    if (!errors[static_cast<std::size_t>(rank)] || std::ranges::find(died, rank) != died.end()) continue;
    try {
      std::rethrow_exception(errors[static_cast<std::size_t>(rank)]);
    } catch (const Aborted&) {
      told = std::current_exception();
    } catch (const std::logic_error&) {
      throw;
    } catch (const std::exception& error) {
      fail("[rank {}] {}", rank, error.what());
    }
  }
  if (told) std::rethrow_exception(told);
}

}  // namespace isobar::comm
