// Text as people read it: the nearest known name, numbers with units, joined lists.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isobar {

/// The candidate with the smallest edit distance to `word`, or "" when none is reasonably near.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// " (did you mean 'x'?)" for a near candidate, otherwise "; known: a, b, c".
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

/// `text` for a message: line breaks become spaces, and text that is too long ends in "...".
std::string one_line(std::string_view text, std::size_t longest = 120);

/// In lower case; only ASCII letters change.
std::string lower_case(std::string_view text);

std::string join(std::span<const std::string> words, std::string_view separator);

/// "3.20 MB", "32.1 MB", "412 B": three digits, decimal units.
std::string human_bytes(double bytes);

/// "68.9 GF", "1.40 TF": three digits.
std::string human_flops(double flops);

/// "8,907,556".
std::string with_commas(std::int64_t number);

/// "1:02:03", "2:03", "4 s".
std::string human_seconds(double seconds);

/// FNV-1a, stable across runs and machines.
std::uint64_t hash_text(std::string_view text);

}  // namespace isobar
