// Tuning: how convolutions are computed where that was measured: for every use and direction a method, and the pieces
// the batch is cut into so that the workspace stays within a limit.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isobar::ops {

enum class Direction { forward, data_gradient, weight_gradient };

struct Choice {
  std::string method;                  ///< a row of conv_methods()
  std::vector<std::int64_t> pieces{};  ///< samples of each piece of the batch, in order; empty: all at once
  bool operator==(const Choice&) const = default;
};

class Tuning {
 public:
  void set(std::string node, Direction direction, Choice choice) {
    choices_[{std::move(node), direction}] = std::move(choice);
  }
  /// What was found best for this node, or null.
  const Choice* find(std::string_view node, Direction direction) const {
    const auto found = choices_.find({std::string(node), direction});
    return found == choices_.end() ? nullptr : &found->second;
  }
  const std::map<std::pair<std::string, Direction>, Choice>& all() const { return choices_; }

 private:
  std::map<std::pair<std::string, Direction>, Choice> choices_;
};

}  // namespace isobar::ops
