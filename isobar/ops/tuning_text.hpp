// Tuning as text, a line for every choice: what is kept in the user's cache and in the folder of a run.
//   weight winograd:4,winograd:4 conv1
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "isobar/ops/tuning.hpp"

namespace isobar::ops {

struct NamedChoice {
  std::string node;
  Direction direction;
  Choice choice;
};

/// Without the end of the line.
std::string choice_line(const NamedChoice& of);

/// Reads such a line; nothing when it is anything else. What it names need not exist in this program.
std::optional<NamedChoice> parse_choice(std::string_view line);

/// Whether a node of this name can be kept: it has no end of line.
bool can_be_kept(std::string_view node);

/// The text of a file; it shows whether it is whole.
std::string tuning_text(const Tuning& tuning);

/// Reads such a text; nothing unless it is whole.
std::optional<Tuning> parse_tuning(std::string_view text);

}  // namespace isobar::ops
