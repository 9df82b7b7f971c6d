#include "isobar/ops/tuning_text.hpp"

#include <charconv>

#include <fmt/format.h>

namespace isobar::ops {
namespace {

constexpr std::string_view first_line = "isobar tuning 1", last_line = "end";
constexpr std::string_view words[] = {"forward", "data", "weight"};
constexpr std::size_t most_pieces = 4096;

// Removes and returns the text before the next `mark`, or all of it if there is none.
std::string_view take_until(std::string_view& rest, char mark) {
  const std::size_t at = rest.find(mark);
  const std::string_view word = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return word;
}

std::optional<Piece> parse_piece(std::string_view text) {
  const std::string_view method = take_until(text, ':');
  std::int64_t samples = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), samples);
  if (method.empty() || problem != std::errc() || end != text.data() + text.size() || samples < 1) return std::nullopt;
  return Piece{std::string(method), samples};
}

}  // namespace

bool can_be_kept(std::string_view node) { return !node.empty() && node.find('\n') == std::string_view::npos; }

std::string choice_line(const NamedChoice& of) {
  std::string pieces;
  for (const Piece& piece : of.choice.pieces)
    pieces += fmt::format("{}{}:{}", pieces.empty() ? "" : ",", piece.method, piece.samples);
  return fmt::format("{} {} {}", words[static_cast<std::size_t>(of.direction)], pieces, of.node);
}

std::optional<NamedChoice> parse_choice(std::string_view line) {
  const std::string_view word = take_until(line, ' ');
  std::string_view pieces = take_until(line, ' ');
  NamedChoice made{std::string(line), Direction::forward, {}};
  std::size_t direction = 0;
  while (direction < std::size(words) && words[direction] != word) ++direction;
  if (direction == std::size(words) || pieces.empty() || !can_be_kept(line)) return std::nullopt;
  made.direction = static_cast<Direction>(direction);
  while (!pieces.empty()) {
    const auto piece = parse_piece(take_until(pieces, ','));
    if (!piece || made.choice.pieces.size() == most_pieces) return std::nullopt;
    made.choice.pieces.push_back(*piece);
  }
  return made;
}

std::string tuning_text(const Tuning& tuning) {
  std::string text = fmt::format("{}\n", first_line);
  for (const auto& [of, choice] : tuning.all())
    if (can_be_kept(of.first)) text += choice_line({of.first, of.second, choice}) + "\n";
  return text + fmt::format("{}\n", last_line);
}

std::optional<Tuning> parse_tuning(std::string_view text) {
  if (take_until(text, '\n') != first_line) return std::nullopt;
  Tuning tuning;
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    if (line == last_line) return text.empty() ? std::optional(tuning) : std::nullopt;
    const auto choice = parse_choice(line);
    if (!choice) return std::nullopt;
    tuning.set(choice->node, choice->direction, choice->choice);
  }
  return std::nullopt;
}

}  // namespace isobar::ops
