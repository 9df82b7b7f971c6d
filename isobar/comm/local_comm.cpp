#include "isobar/comm/local_comm.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <thread>

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
  std::size_t bytes() const override { return side_->sends ? side_->length : side_->met_length; }

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

class LocalView final : public WorldView {
 public:
  LocalView(std::shared_ptr<LocalWorld> world, int rank)
      : WorldView(world->elastic()), world_(std::move(world)), rank_(rank) {}

  bool abort(const std::string& message) override { return world_->abort(rank_, message); }
  void check(std::uint32_t epoch) const override { world_->check(rank_, epoch); }
  void set_fate(Fate fate) override {
    if (fate == Fate::peer) world_->work_alone(rank_);
  }
  bool has_died(int rank) const override { return world_->has_died(rank); }
  void note(std::string what) override { world_->note(rank_, std::move(what)); }
  std::vector<std::optional<std::string>> whereabouts(const std::vector<int>& ranks, double) override {
    std::vector<std::optional<std::string>> all;
    for (const int rank : ranks) all.push_back(world_->noted(rank));
    return all;
  }

 private:
  const std::shared_ptr<LocalWorld> world_;
  const int rank_;
};

class LocalComm final : public Comm {
 public:
  LocalComm(std::shared_ptr<LocalWorld> world, std::shared_ptr<WorldView> view, std::uint64_t number, Group group)
      : Comm(std::move(group), std::move(view)), world_(std::move(world)), number_(number) {}

  std::unique_ptr<Comm> among(std::span<const int> ranks) override {
    check();  // no message would report a failure
    Group part = part_of(group(), ranks);
    const std::uint64_t number = world_->number(number_, part);
    return std::make_unique<LocalComm>(world_, view(), number, std::move(part));
  }

  std::shared_ptr<SharedMemory> share(std::size_t bytes) override {
    expects(std::ranges::all_of(nodes(), [](int node) { return node == 0; }), "memory shared within one node");
    const std::size_t stride = (bytes + 63) / 64 * 64;
    auto memory = world_->memory(number_, epoch(), shares_++, stride * members().size() + 64);
    barrier(*this);  // until all have it: it is freed with its last holder
    return std::make_shared<LocalMemory>(std::move(memory), bytes, stride);
  }

 private:
  Ticket begin_send(int to, int tag, std::span<const std::byte> bytes) override {
    const int self = in_world(rank()), peer = in_world(to);
    return Ticket(std::make_unique<LocalTransfer>(
        world_, Channel{number_, epoch(), self, peer, tag},
        Side{.sends = true, .self = self, .peer = peer, .source = bytes.data(), .length = bytes.size()}));
  }
  Ticket begin_receive(int from, int tag, std::span<std::byte> bytes, Length length) override {
    const int self = in_world(rank()), peer = in_world(from);
    return Ticket(std::make_unique<LocalTransfer>(world_, Channel{number_, epoch(), peer, self, tag},
                                                  Side{.self = self,
                                                       .peer = peer,
                                                       .target = bytes.data(),
                                                       .length = bytes.size(),
                                                       .may_be_shorter = length == Length::at_most}));
  }

  std::shared_ptr<LocalWorld> world_;
  std::uint64_t number_;
  std::atomic<std::uint64_t> shares_ = 0;
};

std::unique_ptr<Comm> group_in(std::shared_ptr<LocalWorld> world, int rank, Group group) {
  auto view = std::make_shared<LocalView>(world, rank);
  return std::make_unique<LocalComm>(std::move(world), std::move(view), 0, std::move(group));
}

}  // namespace

std::unique_ptr<Comm> alone() { return group_in(std::make_shared<LocalWorld>(1), 0, {}); }

std::unique_ptr<Comm> local_group(std::shared_ptr<LocalWorld> world, std::uint32_t epoch, std::span<const int> members,
                                  int rank) {
  Group group = part_of(world->all(rank), members);
  group.epoch = epoch;
  return group_in(std::move(world), rank, std::move(group));
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
          const auto comm = group_in(world, rank, world->all(rank));
          try {
            guarded(*comm, [&] { work(*comm); });
          } catch (...) {
            errors[static_cast<std::size_t>(rank)] = std::current_exception();
          }
          world->leave(rank);
        });
    } catch (...) {  // no more threads available: those that began must not wait for the others
      world->abort(static_cast<int>(threads.size()), "its thread could not be started");
      throw;
    }
  }
  std::exception_ptr told;  // about another rank's failure
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
