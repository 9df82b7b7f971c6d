// Args: reading a Spec's arguments by key and kind, and the messages when that fails.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/base/spec.hpp"
#include "isobar/base/text.hpp"

namespace isobar {

std::string Args::subject() const {
  if (family_.empty()) return fmt::format("'{}'", path_);
  return family_ == path_ ? family_ : fmt::format("{} '{}'", family_, path_);
}

std::string_view Args::noun() const { return family_ == "recipe" || family_.ends_with("section") ? "key" : "argument"; }

const Value* Args::lookup(std::string_view key) { return spec_.find(key); }

const Value& Args::required(std::string_view key, std::string_view kind) {
  if (const Value* value = lookup(key)) return *value;
  missing_ = Missing{std::string(key), std::string(kind)};
  fail_usage("{}: {} '{}' ({}) is missing", subject(), noun(), key, kind);
}

void Args::wrong(std::string_view key, const Value& value, std::string_view kind) const {
  fail_usage("{}: {} = {} is not {}", subject(), key, one_line(value.str()), kind);
}

void Args::record(std::string_view key, Value in_force) {
  for (auto& [known, value] : declared_)
    if (known == key) return void(value = std::move(in_force));
  declared_.emplace_back(key, std::move(in_force));
}

template <class T>
T Args::declare(std::string_view key, T value) {
  record(key, Value(value));
  return value;
}

namespace {

const bool* as_flag(const Value& v) { return std::get_if<bool>(&v.held); }

bool as_integer(const Value& v, std::int64_t& out) {
  if (const auto* whole = std::get_if<std::int64_t>(&v.held)) return out = *whole, true;
  if (const auto* real = std::get_if<double>(&v.held); real && std::nearbyint(*real) == *real && std::abs(*real) < 9e15)
    return out = static_cast<std::int64_t>(*real), true;
  return false;
}

bool as_real(const Value& v, double& out) {
  if (const auto* whole = std::get_if<std::int64_t>(&v.held)) return out = static_cast<double>(*whole), true;
  if (const auto* real = std::get_if<double>(&v.held)) return out = *real, true;
  return false;
}

std::vector<Value> as_list(const Value& v) {
  if (const auto* list = std::get_if<std::vector<Value>>(&v.held)) return *list;
  return {v};
}

}  // namespace

bool Args::flag(std::string_view key, bool otherwise) {
  const Value* value = lookup(key);
  if (!value) return declare(key, otherwise);
  if (const bool* held = as_flag(*value)) return declare(key, *held);
  wrong(key, *value, "true or false");
}

std::int64_t Args::integer(std::string_view key) {
  const Value& value = required(key, "whole number");
  std::int64_t whole = 0;
  if (as_integer(value, whole)) return declare(key, whole);
  wrong(key, value, "a whole number");
}
std::int64_t Args::integer(std::string_view key, std::int64_t otherwise) {
  return lookup(key) ? integer(key) : declare(key, otherwise);
}

double Args::real(std::string_view key) {
  const Value& value = required(key, "number");
  double real = 0;
  if (as_real(value, real)) return declare(key, real);
  wrong(key, value, "a number");
}
double Args::real(std::string_view key, double otherwise) { return lookup(key) ? real(key) : declare(key, otherwise); }

std::string Args::text(std::string_view key) {
  const Value& value = required(key, "text");
  if (const auto* spec = std::get_if<std::shared_ptr<const Spec>>(&value.held))
    return declare(key, value.quoted ? (*spec)->name() : (*spec)->str());
  return declare(key, value.str());
}
std::string Args::text(std::string_view key, std::string_view otherwise) {
  return lookup(key) ? text(key) : declare(key, std::string(otherwise));
}

std::string Args::one_of(std::string_view key, std::string_view otherwise,
                         std::initializer_list<std::string_view> words) {
  const std::string word = text(key, otherwise);
  if (std::find(words.begin(), words.end(), word) == words.end())
    fail_usage("{}: {} = {} is not one of {}", subject(), key, one_line(word), fmt::join(words, ", "));
  record(key, Spec(word, {}));
  return word;
}

Spec Args::spec(std::string_view key) {
  const Value& value = required(key, "name(...)");
  const auto* spec = std::get_if<std::shared_ptr<const Spec>>(&value.held);
  if (!spec) wrong(key, value, "a name(key=value, ...)");
  if (!value.quoted) return declare(key, **spec);
  try {
    return declare(key, Spec((*spec)->name()));
  } catch (const UsageError& error) {
    fail_usage("{}: {} = {}", subject(), key, error.what());
  }
}
Spec Args::spec(std::string_view key, const Spec& otherwise) {
  return lookup(key) ? spec(key) : declare(key, otherwise);
}

Args Args::section(std::string_view key) {
  Spec table{std::string(key), {}};
  if (const Value* value = lookup(key)) {
    const auto* spec = std::get_if<std::shared_ptr<const Spec>>(&value->held);
    if (!spec || value->quoted) wrong(key, *value, fmt::format("a section: write [{}] above its keys", key));
    table = **spec;
  }
  record(key, table);
  Args nested(std::move(table), "section");
  nested.path_ = family_ == "section" ? fmt::format("{}.{}", path_, key) : std::string(key);
  return nested;
}

std::vector<std::int64_t> Args::integers(std::string_view key, std::vector<std::int64_t> otherwise) {
  if (const Value* value = lookup(key)) {
    otherwise.clear();
    for (const Value& item : as_list(*value))
      if (!as_integer(item, otherwise.emplace_back())) wrong(key, *value, "a list of whole numbers");
  }
  declare(key, std::vector<Value>(otherwise.begin(), otherwise.end()));
  return otherwise;
}

std::vector<std::string> Args::texts(std::string_view key, std::vector<std::string> otherwise) {
  if (const Value* value = lookup(key)) {
    otherwise.clear();
    for (const Value& item : as_list(*value)) {
      const auto* spec = std::get_if<std::shared_ptr<const Spec>>(&item.held);
      otherwise.push_back(spec && item.quoted ? (*spec)->name() : item.str());
    }
  }
  declare(key, std::vector<Value>(otherwise.begin(), otherwise.end()));
  return otherwise;
}

std::vector<double> Args::reals(std::string_view key, std::vector<double> otherwise) {
  if (const Value* value = lookup(key)) {
    otherwise.clear();
    for (const Value& item : as_list(*value))
      if (!as_real(item, otherwise.emplace_back())) wrong(key, *value, "a list of numbers");
  }
  declare(key, std::vector<Value>(otherwise.begin(), otherwise.end()));
  return otherwise;
}

void Args::require(bool condition, std::string_view requirement) const {
  if (!condition) fail_usage("{}: {} ({})", subject(), requirement, one_line(spec_.str()));
}

std::vector<std::pair<std::string, Value>> Args::hand_on() {
  for (const auto& [key, value] : spec_.arguments()) record(key, value);
  return spec_.arguments();
}

void Args::finish() const {
  std::vector<std::string> known;
  for (const auto& [key, value] : declared_) known.push_back(key);
  for (const auto& [key, value] : spec_.arguments())
    if (std::find(known.begin(), known.end(), key) == known.end())
      fail_usage("{}: unknown {} '{}'{}", subject(), noun(), one_line(key), suggestion(key, known));
}

}  // namespace isobar
