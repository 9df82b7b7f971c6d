// PairExchange: how the models of two ranks become their mean although neither waits for the other. One offers a copy
// of its model; when the other comes by, it sends back half of the difference, which the first adds to what its model
// has become meanwhile, and the other takes away from its own. So the sum of all models stays what it is. Only trained
// weights are exchanged: running statistics of different ages would not fit together.
#pragma once

#include <deque>
#include <memory>

#include "isobar/comm/gradient_memory.hpp"
#include "isobar/parallel/pair_words.hpp"
#include "isobar/parallel/replica.hpp"

namespace isobar::parallel {

/// The one who offers; one offer at a time.
class PairOffer {
 public:
  /// Both must outlive this.
  PairOffer(comm::Comm& world, PairWords& words) : world_(world), words_(words) {}

  void begin(Replica& replica, int to, std::int64_t step);
  bool under_way() const { return to_ >= 0; }
  /// Moves messages on; with `apply` also adds what came back.
  void look(Replica& replica, bool apply, std::int64_t step);

  std::int64_t met() const { return met_; }
  /// Steps that were taken between offers and their ends, together.
  std::int64_t steps_between() const { return steps_between_; }

 private:
  comm::Comm& world_;
  PairWords& words_;
  std::unique_ptr<comm::GradientMemory> sent_, back_;
  comm::Ticket sending_, receiving_;
  int to_ = -1;  // whom; -1: nobody
  std::int64_t begun_ = 0, met_ = 0, steps_between_ = 0;
  Chore mixing_{Category::optimizer, "mean of two models"};
};

/// The one who is asked; while it computes, its weights stay what they are, and it owes them the difference.
class PairAnswers {
 public:
  /// Both must outlive this.
  PairAnswers(comm::Comm& world, PairWords& words) : world_(world), words_(words) {}

  /// A model of this rank follows.
  void expect(int from) { asked_.push_back(from); }
  /// Moves messages on, and answers.
  void look(Replica& replica, std::int64_t step);
  /// Takes what is owed from the weights.
  void pay(Replica& replica, std::int64_t step);
  /// Copies the model as it is without what is owed.
  void copy_model(Replica& replica, std::span<float> to);
  /// Whether nobody waits for an answer.
  bool idle() const { return whose_ < 0 && asked_.empty(); }
  std::int64_t met() const { return met_; }

 private:
  void answer(Replica& replica, std::int64_t step);

  comm::Comm& world_;
  PairWords& words_;
  std::deque<int> asked_;
  int whose_ = -1;  // whose model is under way, or its answer; -1: nobody's
  bool answered_ = false;
  std::unique_ptr<comm::GradientMemory> room_;
  comm::Ticket under_way_;
  std::vector<float> owed_;  // like weights; empty: nothing was ever owed
  bool owes_ = false;
  std::int64_t met_ = 0;
  Chore mixing_{Category::optimizer, "mean of two models"};
};

}  // namespace isobar::parallel
