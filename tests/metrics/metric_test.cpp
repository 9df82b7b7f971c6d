#include "isobar/metrics/metric.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "isobar/base/random.hpp"
#include "isobar/metrics/ranking.hpp"

namespace isobar::metrics {
namespace {

using Values = std::map<std::string, double>;

// Adds the samples one by one; anything before reset() does not count.
Values measure(const char* name, const Shape& prediction, const Shape& target, std::vector<float> p,
               std::vector<float> t) {
  const auto metric = make(metrics(), name, "metric");
  const auto width = static_cast<std::size_t>(prediction.count()), height = static_cast<std::size_t>(target.count());
  metric->reset(prediction, target);
  metric->add(std::span(p).first(width), std::span(t).first(height));
  metric->reset(prediction, target);
  for (std::size_t i = 0; i * width < p.size(); ++i)
    metric->add(std::span(p).subspan(i * width, width), std::span(t).subspan(i * height, height));
  const std::vector<std::string> names{"a"};
  const Values one_by_one = metric->values(names);
  metric->reset(prediction, target);
  metric->add(p, t);
  EXPECT_EQ(metric->values(names), one_by_one) << "all at once";
  return one_by_one;
}

std::string usage_error(const char* name, const Shape& prediction, const Shape& target) {
  try {
    make(metrics(), name, "metric")->reset(prediction, target);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(KnownAnswer, mae) { EXPECT_DOUBLE_EQ(measure("mae", {2}, {2}, {1, 2, 3, 4}, {1, 0, 0, 5})["mae"], 6.0 / 4); }

TEST(KnownAnswer, r2_of_each_column) {
  const auto values = measure("r2", {2}, {2}, {1, 5, 2, 5, 3, 5}, {1, 4, 2, 5, 3, 6});
  EXPECT_DOUBLE_EQ(values.at("r2.a"), 1.0);
  EXPECT_DOUBLE_EQ(values.at("r2.1"), 0.0);  // predicting the mean
}

// Three classes; predicted 2, 0 (a tie, the first wins), 1.
const std::vector<float> three{0, 1, 2, 5, 5, 1, 0, 3, -1};

TEST(KnownAnswer, accuracy) {
  EXPECT_DOUBLE_EQ(measure("accuracy", {3}, {1}, three, {2, 1, 1})["accuracy"], 2.0 / 3);
  EXPECT_DOUBLE_EQ(measure("accuracy", {3, 3}, {3}, three, {0, 0, 1})["accuracy"], 2.0 / 3);  // positions of one sample
  EXPECT_DOUBLE_EQ(measure("accuracy", {3, 3}, {3, 1}, three, {2, -1, 0})["accuracy"], 1.0 / 2);  // one is left out
}

TEST(KnownAnswer, top_k) {
  EXPECT_DOUBLE_EQ(measure("top_k(k=1)", {3}, {1}, three, {2, 1, 1})["top_1"], 2.0 / 3);
  EXPECT_DOUBLE_EQ(measure("top_k(k=2)", {3}, {1}, three, {0, 1, 2})["top_2"], 1.0 / 3);
  EXPECT_DOUBLE_EQ(measure("top_k", {3}, {1}, three, {0, 1, 2})["top_5"], 1.0);
}

TEST(KnownAnswer, confusion_counts_true_then_predicted) {
  const Values values = measure("confusion", {3}, {1}, three, {1, 1, 1});
  EXPECT_EQ(values.size(), 9u);
  EXPECT_EQ(values.at("confusion.1.2"), 1);
  EXPECT_EQ(values.at("confusion.1.a"), 1);
  EXPECT_EQ(values.at("confusion.1.1"), 1);
  EXPECT_EQ(values.at("confusion.2.1"), 0);
}

// Two samples of four positions, three classes; the logits are 1 at the predicted class.
//   first:   truth 0 0 1 1, predicted 0 1 1 1      second: truth 0 0 0 2, predicted 0 0 0 0
std::vector<float> one_hot(std::initializer_list<int> classes) {
  std::vector<float> logits;
  for (const int c : classes)
    for (int k = 0; k < 3; ++k) logits.push_back(k == c ? 1.0f : 0.0f);
  return logits;
}

TEST(KnownAnswer, iou_over_the_stream) {
  const Values values = measure("iou", {2, 2, 3}, {2, 2}, one_hot({0, 1, 1, 1, 0, 0, 0, 0}), {0, 0, 1, 1, 0, 0, 0, 2});
  EXPECT_DOUBLE_EQ(values.at("iou.a"), 4.0 / 6);  // hits 4, missed 1, wrongly 1
  EXPECT_DOUBLE_EQ(values.at("iou.1"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(values.at("iou.2"), 0.0);
  EXPECT_DOUBLE_EQ(values.at("iou"), (4.0 / 6 + 2.0 / 3) / 3);
  // A class that never occurs is left out of the mean.
  EXPECT_DOUBLE_EQ(measure("iou", {2, 3}, {2}, one_hot({0, 1}), {0, 0}).at("iou"), (1.0 / 2 + 0) / 2);
}

TEST(KnownAnswer, iou_by_sample) {
  const Values values =
      measure("iou(kind=sample)", {2, 2, 3}, {2, 2}, one_hot({0, 1, 1, 1, 0, 0, 0, 0}), {0, 0, 1, 1, 0, 0, 0, 2});
  // First: 1/2, 2/3, absent = 1. Second: 3/4, absent = 1, 0.
  EXPECT_DOUBLE_EQ(values.at("iou.a"), (1.0 / 2 + 3.0 / 4) / 2);
  EXPECT_DOUBLE_EQ(values.at("iou.1"), (2.0 / 3 + 1) / 2);
  EXPECT_DOUBLE_EQ(values.at("iou.2"), (1.0 + 0) / 2);
  EXPECT_DOUBLE_EQ(values.at("iou"), ((1.0 / 2 + 2.0 / 3 + 1) / 3 + (3.0 / 4 + 1 + 0) / 3) / 2);
}

TEST(KnownAnswer, perplexity) {
  // Equal logits: as many as there are classes. Otherwise exp of the mean of ln(1/p), here p = 1/2 and 1/4.
  EXPECT_NEAR(measure("perplexity", {3}, {1}, {7, 7, 7}, {1}).at("perplexity"), 3, 1e-12);
  const float ln2 = std::log(2.0f);
  EXPECT_NEAR(measure("perplexity", {2, 3}, {2}, {ln2, 0, 0, 0, ln2, 0}, {0, 2}).at("perplexity"), std::sqrt(8.0),
              1e-6);
  EXPECT_NEAR(measure("perplexity", {2}, {1}, {1000, 0}, {0}).at("perplexity"), 1, 1e-12);  // no overflow
}

TEST(KnownAnswer, average_precision_of_two_logits) {
  // Scores 0.9 (1), 0.8 (0), 0.5 (1), 0.5 (0), 0.1 (1): precision 1 at the first, 2/4 at the tie, 3/5 at the end.
  const std::vector<float> p{0, 0.9f, 0, 0.8f, 1, 1.5f, 0, 0.5f, 0, 0.1f};
  EXPECT_NEAR(measure("average_precision", {2}, {1}, p, {1, 0, 1, 0, 1}).at("average_precision"),
              (1 + 2.0 / 4 + 3.0 / 5) / 3, 1e-12);
}

TEST(KnownAnswer, roc_auc_of_two_logits) {
  const std::vector<float> p{0, 0.9f, 0, 0.8f, 1, 1.5f, 0, 0.5f, 0, 0.1f};
  // Of 6 pairs: 0.9 wins both, 0.5 one half, 0.1 none.
  EXPECT_NEAR(measure("roc_auc", {2}, {1}, p, {1, 0, 1, 0, 1}).at("roc_auc"), 2.5 / 6, 1e-12);
}

TEST(Metric, RankingOfManyLabels) {
  // Column a: perfect; column 1: reversed; column 2: all true, so nothing to rank; one target does not count.
  const std::vector<float> p{3, 1, 1, 1, 3, 2, 9, 2, 3}, t{1, 1, 1, 0, 0, 1, -1, 0, 1};
  const Values area = measure("roc_auc", {3}, {3}, p, t), precision = measure("average_precision", {3}, {3}, p, t);
  EXPECT_EQ(area, (Values{{"roc_auc", 0.5}, {"roc_auc.a", 1}, {"roc_auc.1", 0}}));
  EXPECT_NEAR(precision.at("average_precision.1"), 1.0 / 3, 1e-12);
  EXPECT_NEAR(precision.at("average_precision"), (1 + 1.0 / 3) / 2, 1e-12);
  EXPECT_THROW(measure("roc_auc", {1}, {1}, {1, 2}, {0, 0.5f}), Error);
}

TEST(Metric, ShapesThatDoNotFitAreRefused) {
  for (const char* name : {"accuracy", "top_k", "confusion", "iou", "perplexity"}) {
    EXPECT_NE(usage_error(name, {3}, {3}).find(name), std::string::npos) << name;
    EXPECT_NE(usage_error(name, {1}, {1}).find("one class number for each"), std::string::npos) << name;
    EXPECT_EQ(usage_error(name, {4, 5, 3}, {4, 5, 1}), "no error") << name;
  }
  for (const char* name : {"mae", "r2", "roc_auc", "average_precision"}) {
    EXPECT_NE(usage_error(name, {3}, {1}).find(name), std::string::npos) << name;
    EXPECT_EQ(usage_error(name, {3}, {3}), "no error") << name;
  }
  EXPECT_NE(usage_error("confusion", {5000}, {1}).find("too many"), std::string::npos);
}

TEST(Metric, ATargetThatIsNoClassIsAnError) {
  for (const float wrong : {3.0f, 0.5f, std::nanf("")})
    EXPECT_THROW(measure("accuracy", {3}, {1}, {1, 2, 3}, {wrong}), Error) << wrong;
}

TEST(Metric, NothingAddedIsNoCrash) {
  for (const auto* row : metrics()) {
    const auto metric = make(metrics(), Spec(std::string(row->name)), "metric");
    metric->reset({2}, row->name == "mae" || row->name == "r2" ? Shape{2} : Shape{1});
    for (const auto& [name, value] : metric->values({})) EXPECT_EQ(value, 0.0) << name;
  }
}

TEST(Metric, DefaultsFollowTheLoss) {
  EXPECT_EQ(default_metrics("mse"), (std::vector<std::string>{"mae", "r2"}));
  EXPECT_EQ(default_metrics("softmax_cross_entropy(weights=[1, 2])"), std::vector<std::string>{"accuracy"});
  EXPECT_EQ(default_metrics("sigmoid_cross_entropy"), std::vector<std::string>{"average_precision"});
  EXPECT_TRUE(default_metrics("detection_loss").empty());
}

// Every metric: the merged states of three ranks equal the state of one that saw all samples.
TEST(MetricConformance, StatesOfRanksMergeToTheWhole) {
  struct Problem {
    Shape prediction, target;
    int classes;
  };
  for (const Row<Metric>* row : metrics())
    for (const Problem& problem :
         {Problem{{2}, {1}, 2}, Problem{{3}, {1}, 3}, Problem{{2, 3}, {2}, 3}, Problem{{4}, {4}, 2}}) {
      const auto whole = make(metrics(), Spec(std::string(row->name)), "metric");
      try {
        whole->reset(problem.prediction, problem.target);
      } catch (const UsageError&) {
        continue;  // an unsuitable kind of target
      }
      const auto width = static_cast<std::size_t>(problem.prediction.count());
      const auto height = static_cast<std::size_t>(problem.target.count());
      constexpr std::size_t samples = 11;
      const Random random(3, 1);
      std::vector<float> p(samples * width), t(samples * height);
      for (std::size_t i = 0; i < p.size(); ++i) p[i] = static_cast<float>(random.bits(i) % 7);
      for (std::size_t i = 0; i < t.size(); ++i)
        t[i] = static_cast<float>(random.bits(1000 + i) % static_cast<std::uint64_t>(problem.classes));
      whole->add(p, t);
      std::vector<std::unique_ptr<Metric>> parts;
      for (const auto& [first, last] : {std::pair{0u, 5u}, std::pair{5u, 5u}, std::pair{5u, 11u}}) {
        parts.push_back(make(metrics(), Spec(std::string(row->name)), "metric"));
        parts.back()->reset(problem.prediction, problem.target);
        parts.back()->add(std::span(p).subspan(first * width, (last - first) * width),
                          std::span(t).subspan(first * height, (last - first) * height));
      }
      for (const std::size_t other : {1, 2}) parts[0]->merge(parts[other]->state());
      const Values wanted = whole->values({}), merged = parts[0]->values({});
      ASSERT_EQ(wanted.size(), merged.size()) << row->name;
      const bool counts = row->name != "perplexity" && row->name != "mae" && row->name != "r2";
      for (const auto& [name, value] : wanted)
        EXPECT_NEAR(value, merged.at(name), counts ? 0 : 1e-12) << row->name << " " << name;
      EXPECT_THROW(parts[0]->merge(std::vector<double>{1}), std::logic_error) << row->name;
    }
}

}  // namespace
}  // namespace isobar::metrics
