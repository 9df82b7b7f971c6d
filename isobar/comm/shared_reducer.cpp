// Sums among ranks of one node, directly in shared memory; there is no thread: start() and wait() do the work. A large
// sum is cut into a slice per rank: a rank that finds that all have started adds its slice over all ranks and writes it
// to all of them; the sum is complete when all slices are. A small sum is copied aside when it starts, and every rank
// adds all of it from these copies: this takes one look at the others' flags instead of two. Flags only grow, and every
// rank handles sums in order, so that a flag needs no reset.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>

#include "isobar/comm/exchange_clock.hpp"
#include "isobar/comm/patience.hpp"
#include "isobar/comm/reducers.hpp"
#include "isobar/comm/stall_watch.hpp"
#include "isobar/comm/sum_tree.hpp"

namespace isobar::comm {
namespace {

constexpr std::size_t small_bytes = 2048;  // above this the second look costs less than slices save

// A rank may be `ahead` small sums ahead of those it has finished. When small sum j is finished, all ranks have laid
// theirs aside, which they do only after they have finished sum j - ahead: so with twice as many places, no rank still
// reads the place of sum j + ahead.
constexpr std::int64_t ahead = 4, places = 2 * ahead;

// At the head of every rank's part; only that rank writes it.
struct alignas(64) Flags {
  std::int64_t started, laid_aside, sliced;  // all sums; small ones; large ones
};

std::int64_t read_flag(std::int64_t& flag) { return std::atomic_ref(flag).load(std::memory_order_acquire); }
void publish_flag(std::int64_t& flag, std::int64_t value) {
  std::atomic_ref(flag).store(value, std::memory_order_release);
}

// The memory that the ranks share: everyone's flags and places for small sums; and the caller's numbers.
class Board {
 public:
  Board(Comm& comm, const GradientMemory& memory)
      : numbers(memory.on_node().begin(), memory.on_node().end()),
        small_floats_(std::min(small_bytes / sizeof(float), memory.mine().size())),
        place_floats_((small_floats_ + 15) / 16 * 16) {
    expects(numbers.size() == static_cast<std::size_t>(comm.size()), "memory that all ranks share");
    shared_ = comm.share(sizeof(Flags) + places * place_floats_ * sizeof(float));
    for (int rank = 0; rank < comm.size(); ++rank) {
      std::byte* part = shared_->part(rank).data();
      flags.push_back(reinterpret_cast<Flags*>(part));
      places_.push_back(reinterpret_cast<float*>(part + sizeof(Flags)));
    }
  }

  bool is_small(std::size_t count) const { return count <= small_floats_; }
  /// Where a rank lays a small sum aside.
  float* place(std::size_t rank, std::int64_t index) const {
    return places_[rank] + static_cast<std::size_t>(index % places) * place_floats_;
  }
  bool all_have(std::int64_t Flags::*flag, std::int64_t value) const {
    return std::ranges::all_of(flags, [&](Flags* each) { return read_flag(each->*flag) >= value; });
  }

  std::vector<Flags*> flags{};  // by rank
  std::vector<float*> numbers;  // by rank

 private:
  std::size_t small_floats_, place_floats_;
  std::shared_ptr<SharedMemory> shared_;
  std::vector<float*> places_;  // by rank
};

class SharedReducer final : public Reducer {
 public:
  SharedReducer(Comm& comm, GradientMemory& memory, const ReducerOptions& options)
      : comm_(comm), options_(options), memory_(memory.mine()), board_(comm, memory) {}

  std::span<float> memory() override { return memory_; }

  Sum start(SumRequest sum) override {
    expect_within(sum.range, memory_.size());
    const double now = comm_.now();
    const bool small = board_.is_small(sum.range.count);
    pending_.push_back(
        {sum.range, small, small ? small_.started++ : large_++, std::move(sum.what), std::move(sum.ended)});
    publish_flag(board_.flags[self()]->started, ++started_);
    clock_.begin(now);
    advance();
    clock_.waited(comm_.now() - now);
    return started_ - 1;
  }

  void wait(Sum sum) override {
    expects(sum >= 0 && sum < started_, "a sum that was started");
    if (sum < finished_) return;
    const double began = comm_.now();
    if (advance(); sum >= finished_) await(sum);
    clock_.waited(comm_.now() - began);
  }

  std::string describe() const override { return fmt::format("shared memory of {} ranks", comm_.size()); }
  ExchangeCost cost() const override { return clock_.cost(comm_.now()); }

 private:
  struct Pending {
    Range range;
    bool small;
    std::int64_t index;  // among the small sums, or the large ones
    std::string what;
    std::function<void()> ended;
  };

  std::size_t self() const { return static_cast<std::size_t>(comm_.rank()); }

  void await(Sum sum) {
    const std::string what = pending_[static_cast<std::size_t>(sum - finished_)].what;
    StallWatch watch(comm_, options_, what);
    for (Patience patience; sum >= finished_;) {
      if (patience.pause()) watch.look([&] { return missing(); });
      if (!advance()) continue;
      patience.reset();
      watch.progress();
    }
  }

  // Does what can be done without waiting; returns whether it did anything.
  bool advance() {
    bool moved = false;
    for (; begun_ < started_ && begin(pending_[static_cast<std::size_t>(begun_ - finished_)]); moved = true) ++begun_;
    for (; finished_ < begun_ && end(pending_.front()); moved = true) {
      clock_.end(comm_.now());
      if (pending_.front().ended) pending_.front().ended();
      pending_.pop_front();
      ++finished_;
    }
    return moved;
  }

  bool begin(const Pending& sum) {
    if (sum.small) {
      if (sum.index >= small_.finished + ahead) return false;
      std::memcpy(board_.place(self(), sum.index), memory().data() + sum.range.begin, sum.range.count * sizeof(float));
      publish_flag(board_.flags[self()]->laid_aside, sum.index + 1);
      return true;
    }
    if (!board_.all_have(&Flags::started, begun_ + 1)) return false;
    const Range slice = slice_of(sum.range, comm_.size(), comm_.rank());
    sources_.clear(), results_.clear();
    for (float* numbers : board_.numbers) {
      sources_.push_back(numbers + slice.begin);
      results_.push_back(numbers + slice.begin);
    }
    sum_tree(sources_, results_, slice.count);
    publish_flag(board_.flags[self()]->sliced, sum.index + 1);
    count_traffic(slice.count);
    return true;
  }

  bool end(const Pending& sum) {
    if (!sum.small) return board_.all_have(&Flags::sliced, sum.index + 1);
    if (!board_.all_have(&Flags::laid_aside, sum.index + 1)) return false;
    sources_.clear();
    for (std::size_t rank = 0; rank < board_.flags.size(); ++rank) sources_.push_back(board_.place(rank, sum.index));
    float* result = memory().data() + sum.range.begin;
    sum_tree(sources_, {&result, 1}, sum.range.count);
    ++small_.finished;
    count_traffic(sum.range.count);
    return true;
  }

  void count_traffic(std::size_t floats) {
    const int peers = comm_.size() - 1;
    clock_.moved(peers, static_cast<std::int64_t>(floats * sizeof(float)) * peers);
  }

  // The ranks that the first pending sum waits for.
  std::vector<int> missing() const {
    std::int64_t Flags::*flag = &Flags::started;
    std::int64_t value = finished_ + 1;
    if (begun_ > finished_) {
      flag = pending_.front().small ? &Flags::laid_aside : &Flags::sliced;
      value = pending_.front().index + 1;
    }
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < board_.flags.size(); ++rank)
      if (read_flag(board_.flags[rank]->*flag) < value) ranks.push_back(static_cast<int>(rank));
    return ranks;
  }

  Comm& comm_;
  const ReducerOptions options_;
  const std::span<float> memory_;
  Board board_;
  std::vector<const float*> sources_;  // of the sum at hand
  std::vector<float*> results_;
  std::deque<Pending> pending_;  // from number finished_ on
  std::int64_t started_ = 0, begun_ = 0, finished_ = 0;
  struct {
    std::int64_t started = 0, finished = 0;
  } small_;
  std::int64_t large_ = 0;  // started
  ExchangeClock clock_;
};

}  // namespace

std::unique_ptr<Reducer> shared_reducer(Comm& comm, GradientMemory& memory, const ReducerOptions& options) {
  return std::make_unique<SharedReducer>(comm, memory, options);
}

}  // namespace isobar::comm
