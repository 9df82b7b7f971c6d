#include "isobar/pictures/subject.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "isobar/base/clock.hpp"
#include "isobar/metrics/class_targets.hpp"
#include "isobar/train/feeds.hpp"

namespace isobar::pictures {
namespace {

constexpr std::int64_t most_columns = 16;  // of a regression to draw
constexpr int box_channels = 6;            // of detection_loss, before the classes

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, name) != list.end();
}

}  // namespace

Subject::Subject(const PictureRequest& request) : request_(request), y_(request.target_shape), begin_(now_seconds()) {
  if (request.viewer) {
    const std::vector<datasets::Field> fields = dataset()->fields();
    for (const datasets::Field& field : fields) {
      if (field.name == "y" && y_.rank() == 0) y_ = field.shape;
      if (field.name != "y" && x_name_.empty()) x_ = field.shape, x_name_ = field.name;
    }
    prediction_ = request.viewer->prediction_shape();
  }
  const std::size_t target_width = std::max<std::int64_t>(1, y_.count());
  if (!request.targets.empty() && request.targets.size() % target_width == 0) {
    const std::size_t rows = request.targets.size() / target_width;
    if (request.predictions.size() % rows == 0) {
      const std::int64_t width = request.predictions.size() / rows;
      if (prediction_.rank() == 0) prediction_ = Shape{width};
      if (width > 0 && width == prediction_.count()) rows_ = rows;
    }
  }
  task_ = find_task();
}

Task Subject::find_task() const {
  if (prediction_.rank() == 0) return Task::other;
  const std::string& loss = request_.loss.name();
  if (loss == "detection_loss")
    return x_.rank() == 3 && prediction_.rank() == 3 && prediction_[-1] > box_channels ? Task::boxes : Task::other;
  const std::int64_t last = prediction_[-1], places = prediction_.count() / std::max<std::int64_t>(1, last);
  const bool numbers_fit = y_.rank() > 0 && prediction_.count() == y_.count();
  const bool classes_fit = last >= 2 && (y_.rank() == 0 || places == y_.count());
  if (is_one_of(loss, {"softmax_cross_entropy", "nll", "focal"}) ||
      (loss.empty() && classes_fit && y_.rank() > 0 && !numbers_fit)) {
    if (!classes_fit) return Task::other;
    if (places == 1) return Task::classes;
    if (prediction_.rank() == x_.rank() && x_.rank() >= 3 &&
        std::equal(x_.extents().begin(), x_.extents().end() - 1, prediction_.extents().begin()))
      return Task::maps;
    return follows_tokens() ? Task::tokens : Task::other;
  }
  if (loss.empty() || is_one_of(loss, {"mse", "mae", "smooth_l1"}))
    return numbers_fit && y_.count() <= most_columns ? Task::regression : Task::other;
  return Task::other;
}

// Whether the target is the input shifted by one, as when predicting the next token of a text.
bool Subject::follows_tokens() const {
  if (prediction_.rank() != 2 || x_.rank() != 1 || x_[0] != prediction_[0] || x_[0] < 4 || samples() == 0) return false;
  const std::vector<datasets::Field> fields = dataset()->fields();
  std::vector<std::vector<float>> memory;
  for (const datasets::Field& field : fields) memory.emplace_back(field.shape.count());
  dataset()->read(0, std::vector<std::span<float>>(memory.begin(), memory.end()));
  const std::vector<float>*x = nullptr, *y = nullptr;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    if (fields[f].name == x_name_) x = &memory[f];
    if (fields[f].name == "y") y = &memory[f];
  }
  const auto is_token = [&](float v) { return v >= 0 && v < static_cast<float>(classes()) && v == std::floor(v); };
  return x && std::ranges::all_of(*x, is_token) &&
         (!y || (y->size() == x->size() && std::equal(x->begin() + 1, x->end(), y->begin())));
}

std::int64_t Subject::classes() const {
  if (prediction_.rank() == 0 || task_ == Task::regression) return 0;
  return task_ == Task::boxes ? prediction_[-1] - box_channels : prediction_[-1];
}

std::string Subject::class_name(std::int64_t number) const {
  const std::size_t at = number;
  if (at < request_.target_names.size()) return request_.target_names[at];
  if (dataset())
    if (const std::vector<std::string> names = dataset()->classes(); at < names.size()) return names[at];
  return std::to_string(number);
}

std::span<const float> Subject::prediction(std::int64_t row) const {
  const std::size_t width = prediction_.count();
  return request_.predictions.subspan(row * width, width);
}

std::span<const float> Subject::target(std::int64_t row) const {
  const std::size_t width = y_.count();
  return request_.targets.subspan(row * width, width);
}

bool Subject::all_kept() const { return rows_ > 0 && rows_ == samples(); }

bool Subject::may_pass() const {
  // The first three passes are made however long they take.
  return request_.viewer && passes_ < request_.most_passes &&
         (passes_ < 3 || now_seconds() - begin_ < request_.most_seconds);
}

std::optional<train::View> Subject::view(std::int64_t sample) {
  if (!all_kept()) {
    if (!may_pass()) return std::nullopt;
    ++passes_;
    return request_.viewer->look(sample);
  }
  train::View view;
  view.sample = sample;
  std::vector<std::span<float>> out;
  for (const datasets::Field& field : dataset()->fields()) {
    train::Values& values = view.fields[field.name];
    values.shape = field.shape;
    values.numbers.resize(field.shape.count());
    out.emplace_back(values.numbers);
  }
  dataset()->read(sample, out);
  const std::span<const float> kept = prediction(sample);
  view.prediction = {prediction_, {kept.begin(), kept.end()}};
  return view;
}

train::Values Subject::predict(const train::Values& x) {
  ++passes_;
  return request_.viewer->predict({{x_name_, x}});
}

std::vector<std::int64_t> Subject::choice(std::int64_t most, bool first_ones) const {
  const std::int64_t count = all_kept() ? samples() : std::min({most, request_.most_passes - passes_, samples()});
  std::vector<std::int64_t> chosen(std::max<std::int64_t>(0, count));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::int64_t place = i;
    chosen[i] = first_ones ? place : place * samples() / count;
  }
  return chosen;
}

std::vector<double> probabilities(std::span<const float> numbers) {
  std::vector<double> q(numbers.begin(), numbers.end());
  const double sum = std::accumulate(q.begin(), q.end(), 0.0);
  if (std::ranges::min(q) >= 0 && std::abs(sum - 1) < 1e-3) return q;
  const double highest = std::ranges::max(q);
  double all = 0;
  for (double& value : q) all += value = std::exp(value - highest);
  for (double& value : q) value /= all;
  return q;
}

std::vector<std::uint16_t> largest(std::span<const float> prediction, std::int64_t classes) {
  const std::size_t width = classes;
  std::vector<std::uint16_t> result(prediction.size() / width);
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<std::uint16_t>(metrics::predicted_class(prediction.subspan(i * width, width)));
  return result;
}

}  // namespace isobar::pictures
