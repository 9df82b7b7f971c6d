// Choice: which way to sum was measured to be fastest for which length, and the file that remembers it. A file that is
// damaged or from another machine is ignored.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isobar/base/spec.hpp"

namespace isobar::comm {

/// The algorithms of all_reduces() that a reducer chooses from when `asked` leaves it open: "auto", or "hierarchical"
/// without its parts; if nothing was measured, the first suits short sums and the second long ones. Otherwise only
/// `asked`.
std::vector<Spec> candidates(const Spec& asked, bool many_per_node);

/// For "hierarchical" that sums in the shared memory of nodes: the algorithm between nodes, or "auto"; otherwise empty.
std::optional<Spec> between_nodes(const Spec& algorithm);

/// Sums of up to `up_to` numbers use this candidate; the last rule also holds for all longer sums.
struct Rule {
  std::size_t up_to = 0;
  std::size_t candidate = 0;
  friend bool operator==(const Rule&, const Rule&) = default;
};

using Choice = std::vector<Rule>;

/// The candidate for a sum of `count` numbers.
std::size_t chosen(const Choice& choice, std::size_t count);

/// Where nothing was measured: of several candidates the first suits short sums and the second long ones.
Choice unmeasured_choice(std::size_t candidates);

/// "ring up to 64.0 kB, tree above".
std::string describe(const Choice& choice, std::span<const std::string> candidates);

/// The text of the file; `key` says what was measured where.
std::string choice_text(const Choice& choice, std::span<const std::string> candidates, const std::string& key);

/// Reads such a text; empty unless it is complete, has this key and names only these candidates.
std::optional<Choice> parse_choice(const std::string& text, std::span<const std::string> candidates,
                                   const std::string& key);

/// The file for choices of this key, in the user's cache folder; empty if there is no such folder.
std::filesystem::path choice_file(const std::string& key);

}  // namespace isobar::comm
