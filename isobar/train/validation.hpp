// Validation: the set of samples by which choices are made while a run trains: the best checkpoint, an early end, rates
// that fall on plateaus, targets. It is a data set of its own, or a share of the training set that is then not trained
// on. The test set is only reported; in a run without a validation set, choices are made by the test set.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/base/spec.hpp"
#include "isobar/datasets/sample_subset.hpp"

namespace isobar::train {

struct Validation {
  using DatasetPart = std::function<std::shared_ptr<const datasets::Dataset>(std::shared_ptr<const datasets::Dataset>)>;

  Spec spec{};                                             ///< a data set, or share(of=0.1, seed=1)
  std::shared_ptr<const datasets::Dataset> source{};       ///< without transforms; null: there is no validation set
  std::shared_ptr<const datasets::Dataset> data{};         ///< with transforms
  std::shared_ptr<const datasets::Dataset> whole{};        ///< of a share: the whole training set, without transforms
  std::shared_ptr<const datasets::ChosenSamples> share{};  ///< of a share: its samples, and those trained on

  bool exists() const { return source != nullptr; }
  bool is_share() const { return share != nullptr; }
  /// Takes its part out of the whole training set or a copy of it; empty unless it is a share.
  DatasetPart part_trained_on() const;
  DatasetPart part_kept_apart() const;
};

/// Reads the key `validation` of section [data] of a recipe: a number or share(of=..., seed=...) is a share of `train`,
/// anything else a data set.
Validation read_validation(const Spec& recipe, Args& data, const std::shared_ptr<const datasets::Dataset>& train,
                           datasets::Survey& survey);

/// The name of a result without the set it is of: "accuracy" of "validation.accuracy".
std::string judged_name(std::string_view metric);
/// Throws UsageError if the name of a result is that of a set by which this run makes no choices.
void expect_judged(std::string_view metric, bool validates, std::string_view key);

/// The results by which a run has been judged so far, evaluation by evaluation.
class Judgements {
 public:
  /// `watched`: the result that an early end follows; empty: the loss.
  explicit Judgements(std::string watched) : watched_(watched.empty() ? "loss" : std::move(watched)) {}

  /// Results of an evaluation; without results nothing was evaluated.
  void add(const std::map<std::string, double>& results);
  std::span<const double> losses() const { return losses_; }
  /// Evaluations since the best one.
  std::int64_t since_best() const { return since_best_; }

 private:
  std::string watched_;
  std::vector<double> losses_;
  double best_ = 0;
  bool has_best_ = false;
  std::int64_t since_best_ = 0;
};

}  // namespace isobar::train
