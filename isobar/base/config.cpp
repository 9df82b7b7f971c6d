#include "isobar/base/config.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar {
namespace {

[[noreturn]] void fail_at(std::string_view origin, const toml::source_position& where, std::string_view what) {
  fail_usage("{}:{}:{}: {}", origin, where.line, where.column, one_line(what));
}

// Turns toml++ nodes into Values; `origin` is only for messages.
class Converter {
 public:
  explicit Converter(std::string_view origin) : origin_(origin) {}

  Spec table(const toml::table& table, std::string name) {
    // toml++ sorts keys by name; people and resolved recipes want the order of the file.
    std::vector<std::pair<const toml::key*, const toml::node*>> entries;
    for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      const auto &x = a.first->source().begin, &y = b.first->source().begin;
      return std::tie(x.line, x.column) < std::tie(y.line, y.column);
    });
    std::vector<std::pair<std::string, Value>> arguments;
    for (const auto& [key, node] : entries) arguments.emplace_back(key->str(), value(*node, key->str()));
    return Spec(std::move(name), std::move(arguments));
  }

  Value value(const toml::node& node, std::string_view key) {
    if (depth_ == max_nesting)
      fail_at(origin_, node.source().begin, fmt::format("expected at most {} levels of nesting", max_nesting));
    ++depth_;
    Value held = any_value(node, key);
    --depth_;
    return held;
  }

 private:
  Value any_value(const toml::node& node, std::string_view key) {
    if (const auto* nested = node.as_table()) return table(*nested, std::string(key));
    if (const auto* array = node.as_array()) {
      std::vector<Value> items;
      for (const toml::node& item : *array) items.push_back(value(item, key));
      return items;
    }
    if (const auto* text = node.as_string()) return Value(text->get());
    if (const auto* whole = node.as_integer()) return Value(whole->get());
    if (const auto* real = node.as_floating_point()) return Value(real->get());
    if (const auto* flag = node.as_boolean()) return Value(flag->get());
    fail_at(origin_, node.source().begin, fmt::format("key '{}': a date or time must be written in quotes", key));
  }

  std::string_view origin_;
  int depth_ = 0;
};

}  // namespace

Spec parse_recipe(std::string_view text, std::string_view origin) {
  try {
    return Converter(origin).table(toml::parse(text), "recipe");
  } catch (const toml::parse_error& error) {
    fail_at(origin, error.source().begin, error.description());
  }
}

Spec read_recipe(const std::filesystem::path& file) {
  if (std::error_code ignored; std::filesystem::is_directory(file, ignored))
    fail_usage("recipe '{}' is a directory; a TOML file is needed", file.string());
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail_usage("recipe '{}' cannot be opened; give the path of a TOML file", file.string());
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (stream.bad()) fail("recipe '{}' could not be read to its end", file.string());
  return parse_recipe(text, file.string());
}

namespace {

// The text read as a TOML value; empty if it is not one (or is a date, which recipes keep as text).
std::optional<Value> toml_value(std::string_view text, const std::string& key) {
  try {
    const toml::table read = toml::parse(fmt::format("value = {}\n", text));
    const toml::node* node = read.get("value");
    if (read.size() != 1 || node->is_date() || node->is_time() || node->is_date_time()) return std::nullopt;
    return Converter("--set").value(*node, key);
  } catch (const toml::parse_error&) {
    return std::nullopt;
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(space);
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

// One `--set path=value` being carried out.
struct Setting {
  std::string_view text;  // the whole assignment, for messages
  std::vector<std::string> path;

  template <class... T>
  [[noreturn]] void wrong(fmt::format_string<T...> format, T&&... values) const {
    fail_usage("--set {}: {}", one_line(text), fmt::format(format, std::forward<T>(values)...));
  }

  void read_path(std::string_view keys) {
    for (bool more = true; more;) {
      const std::size_t dot = keys.find('.');
      path.emplace_back(trimmed(keys.substr(0, dot)));
      const bool plain = std::all_of(path.back().begin(), path.back().end(), [](unsigned char c) {
        return (c < 128 && std::isalnum(c)) || c == '_' || c == '-';
      });
      if (path.back().empty() || !plain) wrong("'{}' is not a key; write section.key=value", one_line(keys));
      if ((more = dot != std::string_view::npos)) keys.remove_prefix(dot + 1);
    }
    if (path.size() > max_nesting) wrong("at most {} levels of nesting are allowed", max_nesting);
  }

  Value read_value(std::string_view written) const {
    if (written.empty()) wrong("a value is missing; for empty text write \"\"");
    if (auto value = toml_value(written, path.back())) return *value;
    if (std::string_view("\"'[{").find(written[0]) != std::string_view::npos)
      wrong("{} is neither a TOML value nor plain text", one_line(written));
    double real = 0;  // ".5" and "1." are numbers, although not in TOML
    const char* const end = written.data() + written.size();
    if (auto [stop, code] = std::from_chars(written.data(), end, real);
        stop == end && code == std::errc() && written.find('.') != std::string_view::npos)
      return real;
    return Value(std::string(written));
  }

  void assign(Spec& at, std::size_t level, const Value& value) const {
    const std::string& key = path[level];
    const Value* old = at.find(key);
    const auto* held = old ? std::get_if<std::shared_ptr<const Spec>>(&old->held) : nullptr;
    const bool nested = held && !old->quoted;
    if (level + 1 == path.size()) {
      const bool table = !value.quoted && std::holds_alternative<std::shared_ptr<const Spec>>(value.held);
      if (nested && (*held)->name() == key && !table)
        wrong("'{}' is a section; set one of its keys: {}.key=value", key, fmt::join(path, "."));
      return at.set(key, value);
    }
    if (old && !held) wrong("'{}' is the value {}, which has no keys", key, one_line(old->str()));
    if (nested || !old) {
      Spec section = nested ? **held : Spec(key, {});
      assign(section, level + 1, value);
      return at.set(key, std::move(section));
    }
    Spec named;
    try {
      named = Spec((*held)->name());
    } catch (const UsageError&) {
      wrong("'{}' is the text {}, which has no arguments", key, one_line(old->str()));
    }
    assign(named, level + 1, value);
    at.set(key, Value(named.str()));
  }
};

}  // namespace

void apply_setting(Spec& recipe, std::string_view assignment) {
  Setting setting{assignment, {}};
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) setting.wrong("there is no '='; write section.key=value");
  setting.read_path(assignment.substr(0, equals));
  setting.assign(recipe, 0, setting.read_value(trimmed(assignment.substr(equals + 1))));
}

}  // namespace isobar
