// Tuning as text, one line per choice, as stored in the user's cache and in the folder of a run.
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

/// The line of a choice, without a newline.
std::string choice_line(const NamedChoice& of);

/// Reads such a line; nothing if it is anything else. The method need not exist in this program.
std::optional<NamedChoice> parse_choice(std::string_view line);

/// Whether a node of this name can be stored: it contains no newline.
bool can_be_kept(std::string_view node);

/// The text of a file, from which parse_tuning() can tell whether it is whole.
std::string tuning_text(const Tuning& tuning);

/// Reads such a text; nothing if it is not whole.
std::optional<Tuning> parse_tuning(std::string_view text);

}  // namespace isobar::ops
