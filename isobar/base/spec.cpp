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
    fail_usage("'{}': expected {} at position {} (a Spec is written name(key=value, ...))", one_line(text_), expected,
               at_ + 1);
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
        if (known == key) fail_usage("'{}': argument '{}' is given twice", one_line(text_), key);
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
    if (depth_ == max_nesting) wrong(fmt::format("at most {} levels of nesting", max_nesting));
    ++depth_;
    Value held = any_value();
    --depth_;
    return held;
  }
  Value any_value() {
    if (take('[')) return list();
    if (take('\'')) return quoted('\'');
    if (take('"')) return quoted('"');
    std::string word = this->word();
    if (take('(')) return Spec(std::move(word), arguments());
    if (word == "true") return true;
    if (word == "false") return false;
    const char* const end = word.data() + word.size();
    const char* const begin = word.data() + (word.size() > 1 && word[0] == '+' && word[1] != '-');
    std::int64_t whole = 0;
    if (auto [stop, code] = std::from_chars(begin, end, whole); stop == end && code == std::errc()) return whole;
    double real = 0;
    if (auto [stop, code] = std::from_chars(begin, end, real); stop == end && code == std::errc()) return real;
    return Spec(std::move(word), {});
  }
  Value list() {
    std::vector<Value> items;
    if (take(']')) return items;
    do items.push_back(value());
    while (take(','));
    if (!take(']')) wrong("',' or ']'");
    return items;
  }
  Value quoted(char quote) {
    std::string text;
    for (;;) {
      const std::size_t end = text_.find(quote, at_);
      if (end == std::string_view::npos) wrong("a closing quote");
      text += text_.substr(at_, end - at_);
      at_ = end + 1;
      if (at_ == text_.size() || text_[at_] != quote) return Value(std::move(text));
      text += quote;
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

std::string real_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string quoted_text(const std::string& text) {
  const char quote = text.find('\'') == std::string::npos || text.find('"') != std::string::npos ? '\'' : '"';
  std::string written(1, quote);
  for (const char c : text) written.append(c == quote ? 2 : 1, c);
  return written + quote;
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
      return quoted ? quoted_text(v->name()) : v->str();
    }
  };
  return std::visit(Show{quoted}, held);
}

bool operator==(const Value& a, const Value& b) {
  if (a.held.index() != b.held.index() || a.quoted != b.quoted) return false;
  if (const auto* spec = std::get_if<std::shared_ptr<const Spec>>(&a.held))
    return **spec == **std::get_if<std::shared_ptr<const Spec>>(&b.held);
  if (const auto* real = std::get_if<double>(&a.held)) {
    const double other = std::get<double>(b.held);
    return *real == other || (std::isnan(*real) && std::isnan(other));
  }
  return a.held == b.held;
}

bool operator==(const Spec& a, const Spec& b) {
  if (a.name() != b.name() || a.arguments().size() != b.arguments().size()) return false;
  return std::all_of(a.arguments().begin(), a.arguments().end(), [&](const auto& argument) {
    const Value* other = b.find(argument.first);
    return other && *other == argument.second;
  });
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

}  // namespace isobar
