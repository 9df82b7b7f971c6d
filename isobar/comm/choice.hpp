// Choice: the ways to sum, which of them suits which length, as measured, and the file that remembers it. The file is
// trusted only as far as it can be read: a damaged one, or one of another machine, is as good as none.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isobar/base/spec.hpp"

namespace isobar::comm {

/// What a reducer chooses from, as algorithms of all_reduces(), when `asked` leaves it open: "auto", or "hierarchical"
/// without its parts; the first suits short sums and the second long ones where nothing was measured. Otherwise `asked`
/// alone.
std::vector<Spec> candidates(const Spec& asked, bool many_per_node);

/// For "hierarchical" that adds in the memory of nodes: the algorithm between nodes, or "auto"; none for all others.
std::optional<Spec> between_nodes(const Spec& algorithm);

/// Up to so many numbers, the candidate of this place; the last rule holds for all that is longer too.
struct Rule {
  std::size_t up_to = 0;
  std::size_t candidate = 0;
  friend bool operator==(const Rule&, const Rule&) = default;
};

using Choice = std::vector<Rule>;

/// The candidate for so many numbers.
std::size_t chosen(const Choice& choice, std::size_t count);

/// "ring up to 64.0 kB, tree above".
std::string describe(const Choice& choice, std::span<const std::string> candidates);

/// The text of the file; `key` says what was measured where.
std::string choice_text(const Choice& choice, std::span<const std::string> candidates, const std::string& key);

/// Reads such a text; nothing unless it is whole, has this key and names only these candidates.
std::optional<Choice> parse_choice(const std::string& text, std::span<const std::string> candidates,
                                   const std::string& key);

/// Where choices of this key are remembered: in the user's cache folder; empty when there is none.
std::filesystem::path choice_file(const std::string& key);

}  // namespace isobar::comm
