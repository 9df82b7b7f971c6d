// The group of a simulation by flows: messages are flows between mailboxes and carry their bytes.
#include <algorithm>
#include <cstring>

#include "isobar/comm/reducer.hpp"
#include "isobar/sim/flow_world.hpp"

namespace isobar::sim {
namespace {

namespace s4u = simgrid::s4u;
using Bytes = std::vector<std::byte>;

class Sent final : public comm::Transfer {
 public:
  explicit Sent(s4u::CommPtr flow) : flow_(std::move(flow)) {}
  bool finishes_within(double seconds) override {
    if (!flow_->test() && seconds > 0) s4u::this_actor::sleep_for(seconds);
    return flow_->test();
  }
  void finish() override { flow_->wait(); }

 private:
  s4u::CommPtr flow_;
};

class Received final : public comm::Transfer {
 public:
  Received(s4u::Mailbox* box, std::span<std::byte> into, double latency) : into_(into), latency_(latency) {
    flow_ = box->get_async<Bytes>(&bytes_);
  }
  bool finishes_within(double seconds) override {
    if (!flow_->test() && seconds > 0) s4u::this_actor::sleep_for(seconds);
    if (!flow_->test()) return false;
    finish();
    return true;
  }
  // The flow has no latency: what has arrived is seen that much later.
  void finish() override {
    if (!bytes_) flow_->wait();
    const double seen = flow_->get_finish_time() + latency_;
    s4u::this_actor::sleep_until(std::max(seen, s4u::Engine::get_clock()));
    const std::unique_ptr<Bytes> bytes(std::exchange(bytes_, nullptr));
    if (!bytes) return;
    expects(bytes->size() == into_.size(), "a message of the length that is received");
    std::ranges::copy(*bytes, into_.begin());
  }

 private:
  std::span<std::byte> into_;
  double latency_;
  Bytes* bytes_ = nullptr;
  s4u::CommPtr flow_;
};

class HeapMemory final : public comm::SharedMemory {
 public:
  HeapMemory(std::size_t ranks, std::size_t bytes) : each_((bytes + 63) / 64 * 64), all_(ranks * each_ + 64) {}
  std::span<std::byte> part(int rank) const override {
    const auto begin = reinterpret_cast<std::uintptr_t>(all_.data());
    const std::size_t skip = (64 - begin % 64) % 64;
    return {const_cast<std::byte*>(all_.data()) + skip + static_cast<std::size_t>(rank) * each_, each_};
  }

 private:
  std::size_t each_;
  Bytes all_;
};

class FlowComm final : public comm::Comm {
 public:
  FlowComm(FlowWorld& world, std::vector<int> members, int rank, int group, std::uint32_t epoch)
      : world_(world), members_(std::move(members)), rank_(rank), group_(group), epoch_(epoch) {
    std::map<int, int> numbers;  // nodes are counted in the order of the ranks
    for (const int member : members_) {
      const int node = world.placement.node_of(member);
      nodes_.push_back(numbers.try_emplace(node, static_cast<int>(numbers.size())).first->second);
    }
  }

  int rank() const override { return rank_; }
  const std::vector<int>& members() const override { return members_; }
  std::uint32_t epoch() const override { return epoch_; }
  const std::vector<int>& nodes() const override { return nodes_; }

  comm::Ticket start_send(int to, int tag, std::span<const std::byte> bytes) override {
    ++traffic_.messages;
    traffic_.bytes += static_cast<std::int64_t>(bytes.size());
    const std::uint64_t size = world_.options.without.bandwidth ? 0 : bytes.size();
    auto flow = mailbox(rank_, to, tag)->put_async(new Bytes(bytes.begin(), bytes.end()), size);
    return comm::Ticket(std::make_unique<Sent>(std::move(flow)));
  }
  comm::Ticket start_receive(int from, int tag, std::span<std::byte> bytes) override {
    return comm::Ticket(std::make_unique<Received>(mailbox(from, rank_, tag), bytes,
                                                   world_.latency(world_rank(from), world_rank(rank_))));
  }

  bool abort(const std::string& message) override {
    if (world_.error) return false;
    world_.error = std::make_exception_ptr(comm::Aborted(fmt::format("[rank {}] {}", world_rank(rank_), message)));
    s4u::Actor::kill_all();
    return true;
  }
  void check() const override {
    if (world_.error) std::rethrow_exception(world_.error);
  }

  std::unique_ptr<Comm> split(int color, int key) override {
    Meeting& meeting = meet({color, key});
    std::vector<std::pair<int, int>> mine;  // key and rank
    std::map<int, int> colors;              // every colour is a group of its own, counted alike by all
    for (int r = 0; r < size(); ++r) {
      const auto [its_color, its_key] = meeting.words[static_cast<std::size_t>(r)];
      colors.try_emplace(its_color, static_cast<int>(colors.size()));
      if (its_color == color) mine.emplace_back(its_key, r);
    }
    if (color < 0) return nullptr;
    std::ranges::sort(mine);
    std::vector<int> list;
    int self = 0;
    for (const auto& [_, r] : mine) {
      if (r == rank_) self = static_cast<int>(list.size());
      list.push_back(world_rank(r));
    }
    return std::make_unique<FlowComm>(world_, std::move(list), self, group_number(colors[color]), epoch_);
  }
  std::unique_ptr<Comm> regroup(std::span<const int> ranks, std::uint32_t epoch) override {
    std::vector<int> list;
    int self = -1;
    for (const int r : ranks) {
      if (r == rank_) self = static_cast<int>(list.size());
      list.push_back(world_rank(r));
    }
    expects(self >= 0, "this rank among those that stay");
    return std::make_unique<FlowComm>(world_, std::move(list), self, group_, epoch);
  }
  std::shared_ptr<comm::SharedMemory> share(std::size_t bytes) override {
    Meeting& meeting = meet({0, 0});
    if (!meeting.memory) meeting.memory = std::make_shared<HeapMemory>(members_.size(), bytes);
    return meeting.memory;
  }
  std::unique_ptr<comm::Reducer> own_reducer(std::size_t floats, const comm::ReducerOptions& options) override {
    return flow_reducer(world_, members_, rank_, group_, floats, options);
  }

  void note(std::string) override {}
  std::vector<std::optional<std::string>> whereabouts(double) override {
    return std::vector<std::optional<std::string>>(members_.size());
  }
  comm::Traffic traffic() const override { return traffic_; }
  double now() const override { return s4u::Engine::get_clock(); }

 private:
  int world_rank(int r) const { return members_[static_cast<std::size_t>(r)]; }
  s4u::Mailbox* mailbox(int from, int to, int tag) const {
    return s4u::Mailbox::by_name(fmt::format("c{}.{}.{}:{}>{}", group_, epoch_, tag, from, to));
  }
  Meeting& meet(std::pair<int, int> word) {
    Meeting& meeting = world_.meetings[{group_, meetings_++}];
    if (!meeting.all) {
      meeting.words.resize(members_.size());
      meeting.all = s4u::Barrier::create(static_cast<unsigned>(members_.size()));
    }
    meeting.words[static_cast<std::size_t>(rank_)] = word;
    meeting.all->wait();
    return meeting;
  }
  // Equal on all members of a new group, and on no others: a group is split at most so often.
  int group_number(int color) const { return (group_ * 64 + meetings_) * 4096 + color + 1; }

  FlowWorld& world_;
  std::vector<int> members_, nodes_;
  int rank_, group_;
  std::uint32_t epoch_;
  int meetings_ = 0;
  comm::Traffic traffic_;
};

}  // namespace

std::unique_ptr<comm::Comm> flow_comm(FlowWorld& world, int rank) {
  std::vector<int> all;
  for (int r = 0; r < world.placement.ranks; ++r) all.push_back(r);
  return std::make_unique<FlowComm>(world, std::move(all), rank, 0, 0);
}

}  // namespace isobar::sim
