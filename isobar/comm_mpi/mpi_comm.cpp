#include "isobar/comm_mpi/mpi_comm.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "isobar/base/clock.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/comm_mpi/mapped_memory.hpp"
#include "isobar/comm_mpi/mpi_call.hpp"
#include "isobar/comm_mpi/mpi_transfer.hpp"
#include "isobar/post_mortem/flight_recorder.hpp"

namespace isobar::comm_mpi {
namespace {

using comm::Comm, comm::Ticket;

// What a rank tells before a split.
struct Wish {
  int color = 0, key = 0;
  std::vector<std::uint64_t> taken{};  // numbers of groups
};

comm::Bytes packed(const Wish& wish) {
  comm::Bytes bytes(2 * sizeof(int) + wish.taken.size() * sizeof(std::uint64_t));
  std::memcpy(bytes.data(), &wish.color, sizeof(int));
  std::memcpy(bytes.data() + sizeof(int), &wish.key, sizeof(int));
  std::memcpy(bytes.data() + 2 * sizeof(int), wish.taken.data(), wish.taken.size() * sizeof(std::uint64_t));
  return bytes;
}

Wish unpacked(const comm::Bytes& bytes) {
  Wish wish;
  std::memcpy(&wish.color, bytes.data(), sizeof(int));
  std::memcpy(&wish.key, bytes.data() + sizeof(int), sizeof(int));
  wish.taken.resize((bytes.size() - 2 * sizeof(int)) / sizeof(std::uint64_t));
  std::memcpy(wish.taken.data(), bytes.data() + 2 * sizeof(int), wish.taken.size() * sizeof(std::uint64_t));
  return wish;
}

// A number that nobody has yet; given back, also when an exchange about it ends with a rank's death.
struct Taken {
  GroupNumbers& numbers;
  int number;
  std::uint32_t epoch;
  bool holds;
  Taken(GroupNumbers& all, int which, std::uint32_t when, bool taken)
      : numbers(all), number(which), epoch(when), holds(taken) {}
  ~Taken() {
    if (holds) numbers.drop(number, epoch);
  }
  Taken(const Taken&) = delete;
};

class MpiComm final : public Comm {
 public:
  /// The number must have been taken, or the epoch added.
  MpiComm(std::shared_ptr<MpiWorld> world, int group, std::uint32_t epoch, std::vector<int> members, int rank)
      : world_(std::move(world)), group_(group), epoch_(epoch), members_(std::move(members)), rank_(rank) {
    std::map<int, int> numbers;  // of a node in the world -> in this group
    for (const int member : members_)
      nodes_.push_back(
          numbers.try_emplace(world_->nodes()[static_cast<std::size_t>(member)], static_cast<int>(numbers.size()))
              .first->second);
  }
  ~MpiComm() override { world_->numbers().drop(group_, epoch_); }

  int rank() const override { return rank_; }
  const std::vector<int>& members() const override { return members_; }
  std::uint32_t epoch() const override { return epoch_; }
  bool elastic() const override { return world_->elastic(); }
  const std::vector<int>& nodes() const override { return nodes_; }

  Ticket start_send(int to, int tag, std::span<const std::byte> bytes) override {
    ++messages_;
    bytes_ += static_cast<std::int64_t>(bytes.size());
    return start(true, to, tag, const_cast<std::byte*>(bytes.data()), bytes.size());
  }
  Ticket start_receive(int from, int tag, std::span<std::byte> bytes) override {
    return start(false, from, tag, bytes.data(), bytes.size());
  }

  bool abort(const std::string& message) override { return world_->service().abort(message); }
  void check() const override { world_->service().check(epoch_); }
  double now() const override { return now_seconds(); }
  comm::Traffic traffic() const override { return {messages_, bytes_}; }
  void note(std::string what) override {
    post_mortem::flight_recorder().note(what);
    world_->service().note(std::move(what));
  }
  std::vector<std::optional<std::string>> whereabouts(double seconds) override {
    return world_->service().whereabouts(members_, seconds);
  }

  std::shared_ptr<comm::SharedMemory> share(std::size_t bytes) override {
    expects(std::ranges::all_of(nodes_, [](int node) { return node == 0; }), "memory shared within one node");
    return map_memory(*this, bytes);
  }

  std::function<void(std::span<float>)> native_sum() override {
    if (elastic()) return {};  // nothing could end it when a rank dies
    comm::barrier(*this);      // none waits inside MPI for one that comes late
    return [world = world_, epoch = epoch_, with = world_->communicator(members_)](std::span<float> data) {
      constexpr std::size_t most = std::size_t{1} << 28;
      for (std::size_t begin = 0; begin < data.size(); begin += most) {
        world->service().check(epoch);
        const auto lock = world->use_mpi();
        call(MPI_Allreduce(MPI_IN_PLACE, data.data() + begin, static_cast<int>(std::min(most, data.size() - begin)),
                           MPI_FLOAT, MPI_SUM, with),
             "sum");
      }
    };
  }

  std::unique_ptr<Comm> split(int color, int key) override {
    for (;;) {
      const std::vector<comm::Bytes> all = all_gather(*this, packed({color, key, world_->numbers().taken(epoch_)}));
      std::vector<std::pair<int, int>> chosen;  // key, rank
      std::vector<std::vector<std::uint64_t>> taken;
      for (int rank = 0; rank < size(); ++rank) {
        const Wish wish = unpacked(all[static_cast<std::size_t>(rank)]);
        if (wish.color != color) continue;
        chosen.emplace_back(wish.key, rank);
        taken.push_back(wish.taken);
      }
      const int limit = world_->tags().groups(), number = color < 0 ? -1 : first_free(taken, limit);
      // Another thread of some rank may have taken it meanwhile: then all try again.
      Taken taken_here{world_->numbers(), number, epoch_, number >= 0 && world_->numbers().take(number, epoch_)};
      const auto agreed = all_gather_number(*this, color < 0 ? 0 : number < 0 ? 2 : !taken_here.holds);
      if (std::ranges::all_of(agreed, [](auto each) { return each == 0; })) {
        if (color < 0) return nullptr;
        std::ranges::sort(chosen);
        std::vector<int> ranks;
        for (const auto& [_, rank] : chosen) ranks.push_back(rank);
        taken_here.holds = false;
        return part(number, ranks, epoch_);
      }
      if (std::ranges::count(agreed, 2))
        fail("more than {} groups of ranks at the same time: the tags of the MPI library leave room for no more",
             limit);
    }
  }

  std::unique_ptr<Comm> regroup(std::span<const int> ranks, std::uint32_t epoch) override {
    expects(epoch != epoch_, "another epoch for another list of members");
    expects(std::ranges::find(ranks, rank_) != ranks.end(), "a group with this rank in it");
    world_->numbers().add(group_, epoch);
    return part(group_, ranks, epoch);
  }

 private:
  int in_world(int rank) const {
    expects(rank >= 0 && rank < size(), "a rank of the group");
    return members_[static_cast<std::size_t>(rank)];
  }

  Ticket start(bool sends, int peer, int tag, std::byte* memory, std::size_t length) {
    return Ticket(std::make_unique<MpiTransfer>(
        world_, MpiTransfer::Message{sends, in_world(peer), group_, epoch_, world_->tags().tag(group_, epoch_, tag),
                                     memory, length}));
  }

  std::unique_ptr<Comm> part(int number, std::span<const int> ranks, std::uint32_t epoch) const {
    std::vector<int> members;
    for (const int rank : ranks) members.push_back(in_world(rank));
    const auto self = std::ranges::find(ranks, rank_);
    return std::make_unique<MpiComm>(world_, number, epoch, std::move(members), static_cast<int>(self - ranks.begin()));
  }

  std::shared_ptr<MpiWorld> world_;
  int group_;
  std::uint32_t epoch_;
  std::vector<int> members_;
  int rank_;
  std::vector<int> nodes_;
  std::atomic<std::int64_t> messages_ = 0, bytes_ = 0;
};

}  // namespace

std::unique_ptr<Comm> world_group(std::shared_ptr<MpiWorld> world) {
  expects(world->numbers().take(0, 0), "one group of all ranks");
  std::vector<int> members(static_cast<std::size_t>(world->size()));
  std::iota(members.begin(), members.end(), 0);
  const int rank = world->rank();
  return std::make_unique<MpiComm>(std::move(world), 0, 0, std::move(members), rank);
}

}  // namespace isobar::comm_mpi
