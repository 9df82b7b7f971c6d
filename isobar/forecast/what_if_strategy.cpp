// What-if for the exchange of gradients: lag, hierarchy, size of buckets, algorithm for sums.
#include "isobar/comm/schedule.hpp"
#include "isobar/forecast/value_text.hpp"
#include "isobar/forecast/what_if.hpp"

namespace isobar::forecast {
namespace {

using Values = std::span<const std::string>;

std::vector<std::string> or_usual(Values values, std::vector<std::string> usual) {
  return values.empty() ? usual : std::vector<std::string>(values.begin(), values.end());
}

Variant with_strategy(const sim::Scenario& base, std::string label, Spec strategy) {
  Variant variant{.label = std::move(label), .scenario = base};
  variant.scenario.strategy = std::move(strategy);
  return variant;
}

Spec with(Spec strategy, std::string_view key, Value value) {
  strategy.set(key, std::move(value));
  return strategy;
}

Spec without(const Spec& strategy, std::string_view key) {
  std::vector<std::pair<std::string, Value>> kept;
  for (const auto& argument : strategy.arguments())
    if (argument.first != key) kept.push_back(argument);
  return Spec(strategy.name(), std::move(kept));
}

std::vector<Variant> lags(const sim::Scenario& base, Values values) {
  std::vector<Variant> variants;
  for (const std::string& text : or_usual(values, {"0", "1", "2", "4"})) {
    const std::int64_t k = value_of<std::int64_t>(text, "lag", 0, 64);
    const Spec plain = without(base.strategy, "k");
    const Spec strategy(k == 0 ? "sync" : "lagged", plain.arguments());  // with the same options for sums
    variants.push_back(with_strategy(base, fmt::format("{}", k), k == 0 ? strategy : with(strategy, "k", k)));
  }
  return variants;
}

std::vector<Variant> hierarchies(const sim::Scenario& base, Values values) {
  if (!values.empty()) fail_usage("what-if hierarchy: takes no values; it compares flat sums with hierarchical ones");
  std::vector<Variant> variants;
  for (const char* algorithm : {"ring", "halving_doubling", "hierarchical"})
    variants.push_back(
        with_strategy(base, algorithm == std::string("hierarchical") ? algorithm : fmt::format("flat: {}", algorithm),
                      with(base.strategy, "algorithm", Spec(algorithm))));
  return variants;
}

std::vector<Variant> buckets(const sim::Scenario& base, Values values) {
  std::vector<Variant> variants;
  for (const std::string& text : or_usual(values, {"0", "1", "4", "16", "64", "1000"}))
    variants.push_back(
        with_strategy(base, text == "0" ? "0: each parameter" : text + " MB",
                      with(base.strategy, "bucket_mb", value_of<double>(text, "bucket size in MB", 0, 1e6))));
  return variants;
}

std::vector<Variant> algorithms(const sim::Scenario& base, Values values) {
  std::vector<Variant> variants;
  for (const std::string& text : or_usual(values, names(comm::all_reduces())))
    variants.push_back(with_strategy(base, text, with(base.strategy, "algorithm", Spec(text))));
  return variants;
}

}  // namespace

extern const Quantity lag_quantity;
const Quantity lag_quantity{"lag", "steps between a gradient and its use; 0 is sync", {}, lags};
extern const Quantity hierarchy_quantity;
const Quantity hierarchy_quantity{"hierarchy", "sums over nodes first, or over all ranks alike", {}, hierarchies};
extern const Quantity bucket_quantity;
const Quantity bucket_quantity{"bucket", "MB of gradients that travel together", {}, buckets};
extern const Quantity algorithm_quantity;
const Quantity algorithm_quantity{"algorithm", "how gradients are summed", {}, algorithms};

}  // namespace isobar::forecast
