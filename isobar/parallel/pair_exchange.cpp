#include "isobar/parallel/pair_exchange.hpp"

#include "isobar/base/loops.hpp"
#include "isobar/parallel/own_steps.hpp"

namespace isobar::parallel {

void PairOffer::begin(Replica& replica, int to, std::int64_t step) {
  const std::span<float> weights = replica.weights();
  if (!sent_) {
    sent_ = comm::message_memory(world_, weights.size());
    back_ = comm::message_memory(world_, weights.size());
  }
  const std::span<float> sent = sent_->mine();
  replica.timed(mixing_, step, 2.0 * static_cast<double>(weights.size_bytes()), [&] { copy_to(sent, weights); });
  to_ = to;
  begun_ = step;
  const bool reached = words_.reaches(to, [&] {
    words_.tell(to, PairWord::offer);
    receiving_ = world_.start_receive(to, PairWords::answer_tag, std::as_writable_bytes(back_->mine()));
    sending_ = world_.start_send(to, PairWords::offer_tag, std::as_bytes(sent));
  });
  if (!reached) to_ = -1;
}

void PairOffer::look(Replica& replica, bool apply, std::int64_t step) {
  if (to_ < 0) return;
  bool is_back = false;
  if (!words_.reaches(to_, [&] { is_back = sending_.done() && receiving_.done(); })) {
    sending_ = {}, receiving_ = {};
    to_ = -1;
    return;
  }
  if (!is_back || !apply) return;
  const std::span<float> weights = replica.weights();
  const std::span<const float> back = back_->mine();
  for_all_trained(replica, mixing_, step, 12, [&](std::size_t i) { weights[i] += back[i]; });
  to_ = -1;
  ++met_;
  steps_between_ += step - begun_;
}

void PairAnswers::look(Replica& replica, std::int64_t step) {
  while (true) {
    if (whose_ < 0) {
      if (asked_.empty()) return;
      whose_ = asked_.front();
      asked_.pop_front();
      answered_ = false;
      if (!room_) room_ = comm::message_memory(world_, replica.weights().size());
      words_.reaches(whose_, [&] {
        under_way_ = world_.start_receive(whose_, PairWords::offer_tag, std::as_writable_bytes(room_->mine()));
      });
    }
    bool arrived = false;
    const bool lives = words_.reaches(whose_, [&] { arrived = under_way_.done(); });
    if (lives && !arrived) return;
    if (lives && !answered_) {
      answer(replica, step);
      continue;
    }
    under_way_ = {};
    whose_ = -1;
  }
}

void PairAnswers::answer(Replica& replica, std::int64_t step) {
  const std::span<const float> weights = replica.weights();
  if (owed_.empty() && !replica.pretends(0)) owed_.resize(weights.size());
  const std::span<float> room = room_->mine();
  for_all_trained(replica, mixing_, step, 20, [&](std::size_t i) {
    room[i] = (weights[i] - owed_[i] - room[i]) / 2;
    owed_[i] += room[i];
  });
  owes_ = answered_ = true;
  ++met_;
  words_.reaches(whose_, [&] { under_way_ = world_.start_send(whose_, PairWords::answer_tag, std::as_bytes(room)); });
}

void PairAnswers::pay(Replica& replica, std::int64_t step) {
  if (!std::exchange(owes_, false)) return;
  const std::span<float> weights = replica.weights();
  for_all_trained(replica, mixing_, step, 16, [&](std::size_t i) {
    weights[i] -= owed_[i];
    owed_[i] = 0;
  });
}

void PairAnswers::copy_model(Replica& replica, std::span<float> to) {
  const std::span<const float> weights = replica.weights();
  replica.timed(mixing_, 0, 2.0 * static_cast<double>(weights.size_bytes()), [&] {
    copy_to(to, weights);
    if (owes_)
      for (std::size_t i = 0; i < to.size(); ++i) to[i] -= owed_[i];
  });
}

}  // namespace isobar::parallel
