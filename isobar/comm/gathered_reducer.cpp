// Sums of numbers that cannot be added on their way: what every rank has encoded is gathered by all, who decode and add
// it in the order of ranks, when they wait. Exact sums are left to another reducer, whose memory this one uses.
#include <map>

#include "isobar/comm/message_engine.hpp"
#include "isobar/comm/reducers.hpp"
#include "isobar/comm/schedule_shelf.hpp"
#include "isobar/comm/walk_flight.hpp"

namespace isobar::comm {
namespace {

class GatheredReducer final : public Reducer {
 public:
  GatheredReducer(Comm& comm, std::unique_ptr<Reducer> exact, const ReducerOptions& options)
      : exact_(std::move(exact)),
        codec_(options.codec),
        own_(duplicate(comm)),
        shelf_(make(all_gathers(), "ring", "all-gather"), comm.group()),
        engine_(comm, options, [this] { return own_->traffic().messages; }) {}

  std::span<float> memory() override { return exact_->memory(); }

  // Sums of this reducer have odd numbers, those of the other even ones.
  Sum start(SumRequest sum) override {
    expect_within(sum.range, memory().size());
    if (sum.exact) return 2 * exact_->start(std::move(sum));
    Gathered& all = *under_way_.emplace(started_, std::make_unique<Gathered>()).first->second;
    std::size_t words = 0;
    for (const Range& part : sum.parts.empty() ? std::span<const Range>(&sum.range, 1) : sum.parts) {
      all.parts.push_back({memory().subspan(part.begin, part.count), words});
      words += words_of({&part, 1}, *codec_);
    }
    const auto size = static_cast<std::size_t>(own_->size()), rank = static_cast<std::size_t>(own_->rank());
    all.words = words;
    all.messages.resize(words * size);
    for (const Part& part : all.parts) codec_->encode(part.numbers, all.message(part, rank, *codec_));
    auto flight = std::make_unique<WalkFlight>(
        Walk(*own_, shelf_.of(words * size), all.messages, *codec::plain(), sum_tag(started_)));
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
    Gathered& all = *found->second;
    for (const Part& part : all.parts)
      for (std::size_t rank = 0; rank < static_cast<std::size_t>(own_->size()); ++rank) {
        const std::span<std::byte> message = all.message(part, rank, *codec_);
        if (rank == 0) codec_->decode(message, part.numbers);
        else codec_->add(message, part.numbers);
      }
    under_way_.erase(found);
  }

  std::string describe() const override {
    return fmt::format("{} gathered from {} ranks", codec_->describe(), own_->size());
  }

  ExchangeCost cost() const override {
    ExchangeCost cost = engine_.cost();
    const ExchangeCost more = exact_->cost();
    const Traffic traffic = own_->traffic();
    cost.waited_seconds += more.waited_seconds;
    cost.busy_seconds += more.busy_seconds;
    cost.sums += more.sums;
    cost.traffic = {traffic.messages + more.traffic.messages, traffic.bytes + more.traffic.bytes};
    return cost;
  }

 private:
  /// Numbers that are encoded by themselves, and where their words begin in a message.
  struct Part {
    std::span<float> numbers;
    std::size_t first;
  };
  struct Gathered {
    std::vector<Part> parts;
    std::size_t words = 0;        // of a rank
    std::vector<float> messages;  // rank by rank; words that travel as they are

    std::span<std::byte> message(const Part& part, std::size_t rank, const codec::Codec& codec) {
      return std::as_writable_bytes(std::span(messages).subspan(rank * words + part.first))
          .first(codec.bound(part.numbers.size()));
    }
  };

  std::unique_ptr<Reducer> exact_;
  std::shared_ptr<const codec::Codec> codec_;
  std::unique_ptr<Comm> own_;  // the same ranks, with separate tags
  ScheduleShelf shelf_;
  std::map<Sum, std::unique_ptr<Gathered>> under_way_;
  Sum started_ = 0;
  MessageEngine engine_;  // last, so that flights end before what they use
};

}  // namespace

std::unique_ptr<Reducer> gathered_reducer(Comm& comm, std::unique_ptr<Reducer> exact, const ReducerOptions& options) {
  return std::make_unique<GatheredReducer>(comm, std::move(exact), options);
}

}  // namespace isobar::comm
