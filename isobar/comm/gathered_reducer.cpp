// Sums of numbers that cannot be added on their way: what every rank has encoded is gathered by all, who decode and add
// it in the order of ranks, when they wait. Exact sums are left to another reducer, whose memory this one uses.
#include <map>

#include "isobar/codec/parcel.hpp"
#include "isobar/comm/gather_flight.hpp"
#include "isobar/comm/message_engine.hpp"
#include "isobar/comm/reducers.hpp"

namespace isobar::comm {
namespace {

class GatheredReducer final : public Reducer {
 public:
  GatheredReducer(Comm& comm, std::unique_ptr<Reducer> exact, const ReducerOptions& options)
      : exact_(std::move(exact)),
        codec_(options.codec),
        own_(duplicate(comm)),
        engine_(comm, options, [this] { return own_->traffic().messages; }) {}

  std::span<float> memory() override { return exact_->memory(); }

  // Sums of this reducer have odd numbers, those of the other even ones.
  Sum start(SumRequest sum) override {
    expect_within(sum.range, memory().size());
    if (sum.exact) return 2 * exact_->start(std::move(sum));
    Gathered& all = *under_way_.emplace(started_, std::make_unique<Gathered>()).first->second;
    for (const Range& part : parts_of(sum)) all.tensors.push_back(memory().subspan(part.begin, part.count));
    const auto size = static_cast<std::size_t>(own_->size()), rank = static_cast<std::size_t>(own_->rank());
    all.bound = gathered_bytes(sum, *codec_);
    all.messages = std::make_unique_for_overwrite<std::byte[]>(all.bound * size);
    all.lengths.resize(size);
    all.lengths[rank] = pack(*codec_, all.tensors, {all.messages.get() + rank * all.bound, all.bound});
    auto flight = std::make_unique<GatherFlight>(*own_, std::span(all.messages.get(), all.bound * size), all.lengths,
                                                 sum_tag(started_));
    const MessageEngine::Flying flying =
        engine_.start(std::move(flight), sum.priority, std::move(sum.what), std::move(sum.ended));
    expects(flying == started_, "sums in the order of flights");
    return 2 * started_++ + 1;
  }

  void wait(Sum sum) override {
    if (sum % 2 == 0) return exact_->wait(sum / 2);
    engine_.wait(sum / 2);
    const auto found = under_way_.find(sum / 2);
    if (found == under_way_.end()) return;
    const Gathered& all = *found->second;
    for (std::size_t rank = 0; rank < all.lengths.size(); ++rank) {
      const std::span<const std::byte> message(all.messages.get() + rank * all.bound, all.lengths[rank]);
      if (rank == 0) unpack(*codec_, message, all.tensors);
      else unpack_and_add(*codec_, message, all.tensors);
    }
    under_way_.erase(found);
  }

  std::string describe() const override {
    return fmt::format("{} gathered from {} ranks", codec_->describe(), own_->size());
  }

  ExchangeCost cost() const override {
    ExchangeCost cost = engine_.cost();
    cost.traffic = own_->traffic();
    return cost += exact_->cost();
  }

 private:
  struct Gathered {
    std::vector<std::span<float>> tensors;
    std::size_t bound = 0;                    // of a message
    std::unique_ptr<std::byte[]> messages{};  // rank by rank
    std::vector<std::size_t> lengths{};
  };

  std::unique_ptr<Reducer> exact_;
  std::shared_ptr<const codec::Codec> codec_;
  std::unique_ptr<Comm> own_;  // the same ranks, with separate tags
  std::map<Sum, std::unique_ptr<Gathered>> under_way_;
  Sum started_ = 0;
  MessageEngine::Client engine_;  // last, so that flights end before what they use
};

}  // namespace

std::unique_ptr<Reducer> gathered_reducer(Comm& comm, std::unique_ptr<Reducer> exact, const ReducerOptions& options) {
  return std::make_unique<GatheredReducer>(comm, std::move(exact), options);
}

}  // namespace isobar::comm
