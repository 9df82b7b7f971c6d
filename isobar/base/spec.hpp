// Spec: a name with arguments, `adam(lr=1e-3)`: the one way things are named on the command line and in recipes.
// Args reads a Spec's arguments by key; every read declares the key, so that undeclared arguments are errors and
// declared ones can be listed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace isobar {

class Spec;

/// How deep values may be nested in the text of a Spec or a recipe; deeper text is an error.
inline constexpr int max_nesting = 64;

/// One argument: a truth value, a number, a list, or a Spec (a bare word or quoted text is a Spec without arguments).
struct Value {
  std::variant<bool, std::int64_t, double, std::vector<Value>, std::shared_ptr<const Spec>> held;
  bool quoted = false;  ///< text that must be written with quotes to be read back

  Value(bool v) : held(v) {}
  Value(int v) : held(std::int64_t{v}) {}
  Value(std::int64_t v) : held(v) {}
  Value(double v) : held(v) {}
  Value(std::vector<Value> v) : held(std::move(v)) {}
  Value(Spec v);
  Value(const char* text);
  Value(std::string text);

  /// As it is written in a Spec.
  std::string str() const;

  /// Same kind and same content; 1 and 1.0 differ, and so do word and 'word'.
  friend bool operator==(const Value& a, const Value& b);
};

/// A name with named arguments; equal text means equal Spec.
class Spec {
 public:
  Spec() = default;
  /// Reads `name` or `name(key=value, ...)`; values: 3, 0.5, true, word, 'text' (a quote inside
  /// is doubled), [1, 2], other(key=value).
  Spec(std::string_view text);
  Spec(const char* text) : Spec(std::string_view(text)) {}
  Spec(const std::string& text) : Spec(std::string_view(text)) {}
  Spec(std::string name, std::vector<std::pair<std::string, Value>> arguments)
      : name_(std::move(name)), arguments_(std::move(arguments)) {}

  const std::string& name() const { return name_; }
  const std::vector<std::pair<std::string, Value>>& arguments() const { return arguments_; }
  const Value* find(std::string_view key) const;
  void set(std::string_view key, Value value);
  std::string str() const;

  /// Same name and equal arguments, in whatever order they are written.
  friend bool operator==(const Spec& a, const Spec& b);

 private:
  std::string name_;
  std::vector<std::pair<std::string, Value>> arguments_;
};

/// An argument that was required and not given, and the kind of value it takes: "whole number".
struct Missing {
  std::string key, kind;
};

/// Typed access to the arguments of a Spec; an argument without a default is required.
class Args {
 public:
  /// `family` is the word for it in messages: "optimizer"; a "recipe" or "section" has keys, all others have arguments.
  explicit Args(Spec spec, std::string family = "")
      : spec_(std::move(spec)), family_(std::move(family)), path_(spec_.name()) {}

  bool flag(std::string_view key, bool otherwise);
  std::int64_t integer(std::string_view key);
  std::int64_t integer(std::string_view key, std::int64_t otherwise);
  double real(std::string_view key);
  double real(std::string_view key, double otherwise);
  std::string text(std::string_view key);
  std::string text(std::string_view key, std::string_view otherwise);
  /// One of `words`; the error for anything else lists them.
  std::string one_of(std::string_view key, std::string_view otherwise, std::initializer_list<std::string_view> words);
  Spec spec(std::string_view key);
  Spec spec(std::string_view key, const Spec& otherwise);
  /// A list, or one number meaning a list of one.
  std::vector<std::int64_t> integers(std::string_view key, std::vector<std::int64_t> otherwise);
  std::vector<double> reals(std::string_view key, std::vector<double> otherwise);
  std::vector<std::string> texts(std::string_view key, std::vector<std::string> otherwise);
  /// The nested table `key` of a recipe, empty when absent; its messages name the whole path: section 'train.data'.
  Args section(std::string_view key);
  bool has(std::string_view key) const { return spec_.find(key) != nullptr; }

  /// Throws UsageError unless `condition`; the message names the family member and the requirement.
  void require(bool condition, std::string_view requirement) const;

  /// All arguments as given; they count as read. For a member that passes its arguments on to another.
  std::vector<std::pair<std::string, Value>> hand_on();

  /// Throws UsageError for arguments that were not read, naming the nearest valid ones.
  void finish() const;

  /// The Spec with every argument read so far and its value in force, defaults included.
  Spec resolved() const { return Spec(spec_.name(), declared_); }
  /// Makes resolved() show `in_force` for `key`: for nested Specs, once they are resolved themselves.
  void record(std::string_view key, Value in_force);
  /// The missing required argument that ended the reading, if any.
  const std::optional<Missing>& missing() const { return missing_; }

  const std::string& name() const { return spec_.name(); }
  /// "optimizer 'adam'", for messages.
  std::string subject() const;

 private:
  const Value* lookup(std::string_view key);
  const Value& required(std::string_view key, std::string_view kind);
  [[noreturn]] void wrong(std::string_view key, const Value& value, std::string_view kind) const;
  template <class T>
  T declare(std::string_view key, T value);

  std::string_view noun() const;

  Spec spec_;
  std::string family_, path_;
  std::optional<Missing> missing_;
  std::vector<std::pair<std::string, Value>> declared_;
};

}  // namespace isobar
