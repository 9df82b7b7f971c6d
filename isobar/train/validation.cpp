#include "isobar/train/validation.hpp"

#include <cmath>
#include <limits>

#include "isobar/base/error.hpp"
#include "isobar/train/target.hpp"

namespace isobar::train {
namespace {

constexpr std::string_view prefix = "validation.";

Validation::DatasetPart part_of(std::shared_ptr<const datasets::ChosenSamples> share,
                                std::vector<std::int64_t> datasets::ChosenSamples::*samples) {
  if (!share) return nullptr;
  return [share, samples](std::shared_ptr<const datasets::Dataset> whole) {
    return datasets::sample_subset(std::move(whole), (*share).*samples);
  };
}

// A bare number, 0.1, is a share.
bool names_number(const Spec& recipe) {
  const Value* const section = recipe.find("data");
  const auto* const data = section ? std::get_if<std::shared_ptr<const Spec>>(&section->held) : nullptr;
  const Value* const value = data ? (*data)->find("validation") : nullptr;
  return value && (std::holds_alternative<double>(value->held) || std::holds_alternative<std::int64_t>(value->held));
}

}  // namespace

Validation::DatasetPart Validation::part_trained_on() const { return part_of(share, &datasets::ChosenSamples::others); }
Validation::DatasetPart Validation::part_kept_apart() const { return part_of(share, &datasets::ChosenSamples::chosen); }

Validation read_validation(const Spec& recipe, Args& data, const std::shared_ptr<const datasets::Dataset>& train,
                           datasets::Survey& survey) {
  Validation validation;
  if (names_number(recipe)) validation.spec = Spec("share", {{"of", data.real("validation")}});
  else validation.spec = data.spec("validation");
  Spec resolved;
  if (validation.spec.name() == "share") {
    Args args(validation.spec, "validation set");
    const double of = args.real("of");
    const std::int64_t seed = args.integer("seed", 1);
    args.require(of > 0 && of < 1, "of must be above 0 and below 1: the share of data.train that is kept apart");
    args.finish();
    resolved = args.resolved();
    if (train->size() < 2)
      fail("data.validation '{}': data.train has {} samples, at least 2 are needed", validation.spec.str(),
           train->size());
    validation.share = std::make_shared<const datasets::ChosenSamples>(
        datasets::choose_samples(train->size(), of, static_cast<std::uint64_t>(seed)));
    validation.whole = train;
    validation.source = validation.part_kept_apart()(train);
  } else {
    validation.source = datasets::make_dataset(validation.spec, survey, &resolved);
  }
  data.record("validation", resolved);
  if (validation.source->size() == 0) fail("data.validation has no samples");
  return validation;
}

std::string judged_name(std::string_view metric) {
  return std::string(metric.starts_with(prefix) ? metric.substr(prefix.size()) : metric);
}

void expect_judged(std::string_view metric, bool validates, std::string_view key) {
  if (metric.starts_with(prefix) && !validates)
    fail_usage("{} '{}' is a result on a validation set, and the recipe has none: add data.validation, or write '{}'",
               key, metric, judged_name(metric));
  if (metric.starts_with("test."))
    fail_usage("{} '{}': write '{}'; it is judged on data.validation, or on data.test where there is no validation set",
               key, metric, metric.substr(5));
}

void Judgements::add(const std::map<std::string, double>& results) {
  if (results.empty()) return;
  const auto result = [&](const std::string& name) {
    const auto found = results.find(name);
    return found == results.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
  };
  losses_.push_back(result("loss"));
  const double now = result(watched_);
  const bool better = !std::isnan(now) && (!has_best_ || (larger_is_better(watched_) ? now > best_ : now < best_));
  since_best_ = better ? 0 : since_best_ + 1;
  if (!better) return;
  has_best_ = true;
  best_ = now;
}

}  // namespace isobar::train
