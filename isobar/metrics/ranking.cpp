#include "isobar/metrics/ranking.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::metrics {
namespace {

constexpr std::size_t max_named_columns = 64;

}  // namespace

void Ranking::reset(const Shape& prediction, const Shape& target) {
  two_logits_ = prediction.rank() > 0 && prediction[-1] == 2 && prediction.count() == 2 * target.count();
  if (!two_logits_ && prediction.count() != target.count())
    fail_usage("metric '{}': predictions are {}, targets {}; needed: two logits beside class 0 or 1, or equal shapes",
               name_, prediction.str(), target.str());
  columns_.assign(two_logits_ ? 1 : static_cast<std::size_t>(prediction[-1]), {});
}

void Ranking::add(std::span<const float> prediction, std::span<const float> target) {
  expects(prediction.size() == target.size() * (two_logits_ ? 2 : 1), "one prediction per target");
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] < 0) continue;
    if (target[i] != 0 && target[i] != 1) fail("metric '{}': target {} is neither 0 nor 1", name_, target[i]);
    const float score = two_logits_ ? prediction[2 * i + 1] - prediction[2 * i] : prediction[i];
    columns_[i % columns_.size()].push_back({score, target[i] == 1});
  }
}

// For each column: the number of true cases, their scores, the number of false ones, their scores.
std::vector<double> Ranking::state() const {
  std::vector<double> state;
  for (const std::vector<Ranked>& column : columns_)
    for (const bool truth : {true, false}) {
      state.push_back(static_cast<double>(std::ranges::count(column, truth, &Ranked::truth)));
      for (const Ranked& ranked : column)
        if (ranked.truth == truth) state.push_back(double{ranked.score});
    }
  return state;
}

void Ranking::merge(std::span<const double> state) {
  for (std::vector<Ranked>& column : columns_)
    for (const bool truth : {true, false}) {
      expects(!state.empty() && static_cast<double>(state.size()) > state[0], "the state of as many columns");
      const auto count = static_cast<std::size_t>(state[0]);
      for (const double score : state.subspan(1, count)) column.push_back({static_cast<float>(score), truth});
      state = state.subspan(1 + count);
    }
  expects(state.empty(), "the state of as many columns");
}

std::map<std::string, double> Ranking::values(std::span<const std::string> columns) const {
  std::map<std::string, double> result;
  double sum = 0;
  int measured = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::vector<Ranked> falling = columns_[c];
    std::ranges::sort(falling, std::greater<>(), &Ranked::score);
    const auto positives = std::ranges::count(falling, true, &Ranked::truth);
    // Without both kinds there is nothing to rank.
    if (positives == 0 || positives == std::ssize(falling)) continue;
    const double value = measure(falling, positives);
    if (columns_.size() > 1 && columns_.size() <= max_named_columns)
      result[name_ + "." + column_name(columns, c)] = value;
    sum += value;
    ++measured;
  }
  result[name_] = measured ? sum / measured : 0.0;
  return result;
}

}  // namespace isobar::metrics
