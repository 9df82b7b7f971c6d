#include "isobar/base/spec.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar {
namespace {

// Recursive descent over: spec = word [ '(' [ key '=' value { ',' key '=' value } ] ')' ].
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Spec whole() {
    Spec spec = this->spec();
    skip_space();
    if (at_ < text_.size()) wrong("nothing more");
    return spec;
  }

 private:
  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_-./+:*~@%").find(c) != std::string_view::npos;
  }

  [[noreturn]] void wrong(std::string_view expected) const {
    fail_usage("'{}': expected {} at position {} (a Spec is written name(key=value, ...))", text_, expected, at_ + 1);
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string word() {
    skip_space();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == begin) wrong("a word");
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::vector<std::pair<std::string, Value>> arguments() {
    std::vector<std::pair<std::string, Value>> list;
    if (take(')')) return list;
    do {
      std::string key = word();
      for (const auto& [known, ignored] : list)
        if (known == key) fail_usage("'{}': argument '{}' is given twice", text_, key);
      if (!take('=')) wrong("'='");
      list.emplace_back(std::move(key), value());
    } while (take(','));
    if (!take(')')) wrong("',' or ')'");
    return list;
  }
  Spec spec() {
    std::string name = word();
    if (!take('(')) return Spec(std::move(name), {});
    return Spec(std::move(name), arguments());
  }
  Value value() {
    skip_space();
    if (take('[')) {
      std::vector<Value> items;
      if (take(']')) return items;
      do items.push_back(value());
      while (take(','));
      if (!take(']')) wrong("',' or ']'");
      return items;
    }
    for (const char quote : {'\'', '"'}) {
      if (!take(quote)) continue;
      const std::size_t end = text_.find(quote, at_);
      if (end == std::string_view::npos) wrong("a closing quote");
      Value held{Spec(std::string(text_.substr(at_, end - at_)), {})};
      held.quoted = true;
      at_ = end + 1;
      return held;
    }
    std::string word = this->word();
    if (take('(')) return Spec(std::move(word), arguments());
    if (word == "true") return true;
    if (word == "false") return false;
    const char* const end = word.data() + word.size();
    const char* const begin = word.data() + (word[0] == '+');
    std::int64_t whole = 0;
    if (auto [stop, code] = std::from_chars(begin, end, whole); stop == end && code == std::errc()) return whole;
    double real = 0;
    if (auto [stop, code] = std::from_chars(begin, end, real); stop == end && code == std::errc()) return real;
    return Spec(std::move(word), {});
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string real_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

Value::Value(Spec v) : held(std::make_shared<const Spec>(std::move(v))) {}
Value::Value(const char* text) : Value(std::string(text)) {}
Value::Value(std::string text)
    : held(std::make_shared<const Spec>(std::move(text), std::vector<std::pair<std::string, Value>>{})), quoted(true) {}

std::string Value::str() const {
  struct Show {
    bool quoted;
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return real_text(v); }
    std::string operator()(const std::vector<Value>& v) const {
      std::vector<std::string> items;
      for (const Value& item : v) items.push_back(item.str());
      return "[" + join(items, ", ") + "]";
    }
    std::string operator()(const std::shared_ptr<const Spec>& v) const {
      return quoted ? "'" + v->name() + "'" : v->str();
    }
  };
  return std::visit(Show{quoted}, held);
}

Spec::Spec(std::string_view text) { *this = Reader(text).whole(); }

const Value* Spec::find(std::string_view key) const {
  for (const auto& [name, value] : arguments_)
    if (name == key) return &value;
  return nullptr;
}

void Spec::set(std::string_view key, Value value) {
  for (auto& [name, held] : arguments_)
    if (name == key) return void(held = std::move(value));
  arguments_.emplace_back(key, std::move(value));
}

std::string Spec::str() const {
  if (arguments_.empty()) return name_;
  std::vector<std::string> parts;
  for (const auto& [key, value] : arguments_) parts.push_back(key + "=" + value.str());
  return name_ + "(" + join(parts, ", ") + ")";
}

std::string Args::subject() const {
  return family_.empty() ? fmt::format("'{}'", spec_.name()) : fmt::format("{} '{}'", family_, spec_.name());
}

const Value* Args::lookup(std::string_view key) { return spec_.find(key); }

const Value& Args::required(std::string_view key, std::string_view kind) {
  if (const Value* value = lookup(key)) return *value;
  declared_.emplace_back(key, Value(std::string(kind)));
  fail_usage("{}: argument '{}' ({}) is missing", subject(), key, kind);
}

void Args::wrong(std::string_view key, const Value& value, std::string_view kind) const {
  fail_usage("{}: {} = {} is not {}", subject(), key, value.str(), kind);
}

template <class T>
T Args::declare(std::string_view key, T value) {
  declared_.emplace_back(key, Value(value));
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

Spec Args::spec(std::string_view key) {
  const Value& value = required(key, "name(...)");
  const auto* spec = std::get_if<std::shared_ptr<const Spec>>(&value.held);
  if (!spec) wrong(key, value, "a name(key=value, ...)");
  return declare(key, value.quoted ? Spec((*spec)->name()) : **spec);
}
Spec Args::spec(std::string_view key, const Spec& otherwise) {
  return lookup(key) ? spec(key) : declare(key, otherwise);
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
  if (!condition) fail_usage("{}: {} ({})", subject(), requirement, spec_.str());
}

void Args::finish() const {
  std::vector<std::string> known;
  for (const auto& [key, value] : declared_) known.push_back(key);
  for (const auto& [key, value] : spec_.arguments())
    if (std::find(known.begin(), known.end(), key) == known.end())
      fail_usage("{}: unknown argument '{}'{}", subject(), key, suggestion(key, known));
}

}  // namespace isobar
