#include "isobar/base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

namespace isobar {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

std::string scaled(double value, std::span<const char* const> units) {
  std::size_t u = 0;
  while (std::abs(value) >= 999.5 && u + 1 < units.size()) value /= 1000, ++u;
  return fmt::format("{:.{}f} {}", value, value < 10 && u > 0 ? 2 : value < 100 && u > 0 ? 1 : 0, units[u]);
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 2);
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= std::max(word.size(), candidate.size())) continue;  // no letter in common
    if (distance < best_distance || (distance == best_distance && best.empty() && distance <= 2)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  if (std::string near = nearest(word, candidates); !near.empty()) return fmt::format(" (did you mean '{}'?)", near);
  if (candidates.empty()) return "; none is known";
  return "; known: " + join(candidates, ", ");
}

std::string one_line(std::string_view text, std::size_t longest) {
  std::string line(text.substr(0, longest));
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  return text.size() > longest ? line + "..." : line;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string join(std::span<const std::string> words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string human_bytes(double bytes) {
  static constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
  return scaled(bytes, units);
}

std::string human_flops(double flops) {
  static constexpr std::array units{"F", "kF", "MF", "GF", "TF", "PF"};
  return scaled(flops, units);
}

std::string with_commas(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) digits.insert(i -= 3, ",");
  return digits;
}

std::string human_seconds(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

}  // namespace isobar
