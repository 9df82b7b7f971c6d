// Tuning: how convolutions are computed if that was measured: for every use and direction, the pieces the batch is cut
// into, so that the workspace stays within a limit, and the method of each piece.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isobar::ops {

enum class Direction { forward, data_gradient, weight_gradient };

/// Consecutive samples of a batch, and the row of conv_methods() that computes them.
struct Piece {
  std::string method;
  std::int64_t samples;
  bool operator==(const Piece&) const = default;
};

struct Choice {
  std::vector<Piece> pieces{};  ///< in the order of the samples; together they are the batch
  bool operator==(const Choice&) const = default;
};

class Tuning {
 public:
  void set(std::string node, Direction direction, Choice choice) {
    choices_[{std::move(node), direction}] = std::move(choice);
  }
  /// The best choice found for this node, or null.
  const Choice* find(std::string_view node, Direction direction) const {
    const auto found = choices_.find({std::string(node), direction});
    return found == choices_.end() ? nullptr : &found->second;
  }
  const std::map<std::pair<std::string, Direction>, Choice>& all() const { return choices_; }
  bool operator==(const Tuning&) const = default;

 private:
  std::map<std::pair<std::string, Direction>, Choice> choices_;
};

}  // namespace isobar::ops
