#include "isobar/train/diagnosis.hpp"

#include <algorithm>

#include "isobar/base/text.hpp"
#include "isobar/parallel/micro_batches.hpp"
#include "isobar/parallel/not_finite.hpp"

namespace isobar::train {
namespace {

using exec::Seen;
using parallel::all_finite;
using parallel::extent_of;

constexpr std::size_t most_samples = 8;

std::string shown_samples(const std::vector<std::int64_t>& samples) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(most_samples, samples.size()); ++i)
    names.push_back(fmt::format("{}", samples[i]));
  return fmt::format("sample{} {}{}", samples.size() == 1 ? "" : "s", join(names, ", "),
                     samples.size() > most_samples ? fmt::format(" and {} more", samples.size() - most_samples) : "");
}

// Those of `rows` rows that hold numbers that are not finite.
std::vector<std::size_t> bad_rows(std::span<const float> numbers, std::size_t rows) {
  std::vector<std::size_t> bad;
  const std::size_t length = rows > 0 ? numbers.size() / rows : 0;
  for (std::size_t r = 0; r < rows; ++r)
    if (!all_finite(numbers.subspan(r * length, length))) bad.push_back(r);
  return bad;
}

// Looks for the first step of the plan that produces something bad.
class Search final : public exec::Observer {
 public:
  explicit Search(const graph::Plan& plan) : plan_(plan) {}

  void begin(const exec::Run& run) { samples_ = run.samples; }
  bool found() const { return step_ != nullptr; }
  std::int64_t number() const { return step_ - plan_.steps.data(); }
  const std::string& text() const { return text_; }

  void before(const graph::PlanStep&, const std::vector<Seen>& reads) override {
    if (found()) return;
    // Kernels may overwrite what they read.
    read_.clear();
    for (const Seen& seen : reads)
      read_.push_back(fmt::format("'{}' {}", seen.buffer->name, extent_of(seen.numbers).str()));
  }

  void after(const graph::PlanStep& step, const std::vector<Seen>& writes) override {
    if (found()) return;
    for (const Seen& seen : writes) {
      if (all_finite(seen.numbers)) continue;
      step_ = &step;
      const bool forward = number() < static_cast<std::int64_t>(plan_.forward_steps);
      text_ = fmt::format("layer '{}', {} pass, kernel '{}': tensor '{}' has {} ({}); read before: {}", step.name,
                          forward ? "forward" : "backward", step.kernel, seen.buffer->name,
                          extent_of(seen.numbers).str(), shown_samples(samples_of(seen)), join(read_, ", "));
      return;
    }
  }

 private:
  // The samples of the bad rows, or of the whole batch.
  std::vector<std::int64_t> samples_of(const Seen& seen) const {
    const std::size_t known = samples_.size();
    std::vector<std::int64_t> samples;
    for (const std::size_t row : bad_rows(seen.numbers, static_cast<std::size_t>(seen.rows)))
      if (row < known) samples.push_back(samples_[row]);
    return samples.empty() ? std::vector(samples_.begin(), samples_.end()) : samples;
  }

  const graph::Plan& plan_;
  std::span<const std::int64_t> samples_;
  std::vector<std::string> read_;
  const graph::PlanStep* step_ = nullptr;
  std::string text_;
};

std::string bad_weight(const exec::ParamStore& store) {
  for (int p = 0; p < store.count(); ++p)
    if (!all_finite(store.weight(p)))
      return fmt::format(
          "weight '{}' has {} before the step: the start of the run was bad, or an update before it overflowed",
          store.parameter(p).name, extent_of(store.weight(p)).str());
  return "";
}

// `batch`: the number of rows of an input, the first of which hold samples.
std::string bad_input(const parallel::Feed& feed, std::size_t batch, const datasets::Dataset& dataset) {
  for (const auto& [name, numbers] : feed.inputs) {
    const std::size_t length = numbers.size() / batch;
    const std::size_t rows = feed.run.rows < 0 ? batch : static_cast<std::size_t>(feed.run.rows);
    for (const std::size_t row : bad_rows(numbers.first(rows * length), rows)) {
      const std::int64_t sample = row < feed.run.samples.size() ? feed.run.samples[row] : -1;
      return fmt::format("sample {} of the training set ({}): field '{}' has {}", sample,
                         sample >= 0 ? dataset.where(sample) : "unknown", name,
                         extent_of(numbers.subspan(row * length, length)).str());
    }
  }
  return "";
}

}  // namespace

Cause find_cause(exec::Executor& executor, exec::ParamStore& store, std::span<const parallel::Feed> feeds,
                 const datasets::Dataset& dataset) {
  Cause cause;
  const auto note = [&](std::int64_t order, const std::string& text) {
    if (!text.empty() && order < cause.order) cause = {order, text};
  };
  const graph::Plan& plan = executor.plan();
  const auto places = static_cast<std::int64_t>(plan.steps.size()) + 2;
  note(0, bad_weight(store));
  Search search(plan);
  executor.observe(&search);
  for (std::size_t f = 0; f < feeds.size(); ++f) {
    const parallel::Feed& feed = feeds[f];
    if (feed.run.rows == 0 && plan.circles().empty()) continue;
    const std::int64_t first = static_cast<std::int64_t>(f) * places + 1;
    note(first, bad_input(feed, static_cast<std::size_t>(plan.rows), dataset));
    const bool before = search.found();
    search.begin(feed.run);
    for (const auto& [name, numbers] : feed.inputs) executor.bind(name, numbers);
    executor.forward(feed.run);
    executor.backward(feed.run);
    if (!before && search.found()) note(first + 1 + search.number(), search.text());
  }
  executor.observe(nullptr);
  return cause;
}

}  // namespace isobar::train
