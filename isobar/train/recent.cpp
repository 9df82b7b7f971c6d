#include "isobar/train/recent.hpp"

#include <cmath>
#include <cstring>

#include <nlohmann/json.hpp>

#include "isobar/base/error.hpp"

namespace isobar::train {
namespace {

using Json = nlohmann::json;

// NaN and infinities are null in JSON.
double real(const Json& value) { return value.is_number() ? value.get<double>() : std::nan(""); }

Json written(const EpochDone& done) {
  Json line{{"epoch", done.epoch},
            {"step", done.step},
            {"train_loss", done.train_loss},
            {"test", done.test},
            {"train_seconds", done.train_seconds},
            {"test_seconds", done.test_seconds}};
  if (done.bad.steps > 0) line["bad"] = {done.bad.steps, done.bad.rewinds, done.bad.rate_scale};
  if (done.skipped) line["skipped"] = *done.skipped;
  if (!done.validation.empty()) line["validation"] = done.validation;
  if (done.validation_skipped) line["validation_skipped"] = *done.validation_skipped;
  if (done.test_skipped) line["test_skipped"] = *done.test_skipped;
  return line;
}

EpochDone read(const Json& line) {
  EpochDone done;
  done.epoch = line.at("epoch");
  done.step = line.at("step");
  done.train_loss = real(line.at("train_loss"));
  for (const auto& [name, value] : line.at("test").items()) done.test[name] = real(value);
  done.train_seconds = real(line.at("train_seconds"));
  done.test_seconds = real(line.at("test_seconds"));
  if (line.contains("bad")) done.bad = {line["bad"][0], line["bad"][1], line["bad"][2]};
  if (line.contains("skipped")) done.skipped = line["skipped"].get<std::int64_t>();
  if (line.contains("validation"))
    for (const auto& [name, value] : line["validation"].items()) done.validation[name] = real(value);
  if (line.contains("validation_skipped")) done.validation_skipped = line["validation_skipped"].get<std::int64_t>();
  if (line.contains("test_skipped")) done.test_skipped = line["test_skipped"].get<std::int64_t>();
  return done;
}

}  // namespace

void Recent::add(const StepDone& step) {
  while (!steps_.empty() && steps_.back().step >= step.step) steps_.pop_back();
  while (!epochs_.empty() && epochs_.back().step >= step.step) epochs_.pop_back();
  steps_.push_back(step);
  if (steps_.size() > most_steps) steps_.pop_front();
}

void Recent::add(const EpochDone& epoch) {
  while (!epochs_.empty() && epochs_.back().epoch >= epoch.epoch) epochs_.pop_back();
  epochs_.push_back(epoch);
  epochs_.back().viewer = nullptr;
  if (epochs_.size() > most_epochs) epochs_.pop_front();
}

void Recent::tell(Sink& sink, const Reached& reached) const {
  auto epoch = epochs_.begin();
  const auto tell_epochs_before = [&](std::int64_t step) {
    for (; epoch != epochs_.end() && epoch->step < step; ++epoch)
      if (epoch->epoch > reached.epoch) sink.epoch(*epoch);
  };
  for (const StepDone& step : steps_) {
    tell_epochs_before(step.step);
    if (step.step > reached.step) sink.step(step);
  }
  tell_epochs_before(INT64_MAX);
}

std::vector<std::byte> Recent::pack() const {
  static_assert(std::is_trivially_copyable_v<StepDone>);
  const std::uint64_t count = steps_.size();
  std::vector<std::byte> bytes(sizeof count + count * sizeof(StepDone));
  std::memcpy(bytes.data(), &count, sizeof count);
  std::byte* at = bytes.data() + sizeof count;
  for (const StepDone& step : steps_) std::memcpy(at, &step, sizeof step), at += sizeof step;
  Json epochs = Json::array();
  for (const EpochDone& epoch : epochs_) epochs.push_back(written(epoch));
  const std::string text = epochs.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto raw = std::as_bytes(std::span(text));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
  return bytes;
}

Recent Recent::unpack(std::span<const std::byte> bytes) {
  std::uint64_t count = 0;
  expects(bytes.size() >= sizeof count, "what pack() wrote");
  std::memcpy(&count, bytes.data(), sizeof count);
  bytes = bytes.subspan(sizeof count);
  expects(count <= most_steps && bytes.size() >= count * sizeof(StepDone), "what pack() wrote");
  Recent recent;
  for (std::uint64_t i = 0; i < count; ++i) {
    StepDone step;
    std::memcpy(&step, bytes.data() + i * sizeof step, sizeof step);
    recent.steps_.push_back(step);
  }
  bytes = bytes.subspan(count * sizeof(StepDone));
  const Json epochs = Json::parse(reinterpret_cast<const char*>(bytes.data()),
                                  reinterpret_cast<const char*>(bytes.data()) + bytes.size());
  for (const Json& line : epochs) recent.epochs_.push_back(read(line));
  return recent;
}

}  // namespace isobar::train
