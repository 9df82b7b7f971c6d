// GPT-2's pattern, '(s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+, as a scanner over the
// classes of characters. A byte that belongs to no valid character counts as another sign.
#include <array>
#include <utf8proc.h>

#include "isobar/tokens/byte_pairs.hpp"

namespace isobar::tokens {
namespace {

enum class Class : std::uint8_t { letter, digit, space, other };

Class class_of(std::int32_t character) {
  // The characters with Unicode's property White_Space.
  if ((character >= 9 && character <= 13) || character == 32 || character == 0x85 || character == 0xA0 ||
      character == 0x1680 || (character >= 0x2000 && character <= 0x200A) || character == 0x2028 ||
      character == 0x2029 || character == 0x202F || character == 0x205F || character == 0x3000)
    return Class::space;
  switch (utf8proc_category(character)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO: return Class::letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return Class::digit;
    default: return Class::other;
  }
}

struct Character {
  Class kind;
  std::size_t bytes;
};

Character first_of(std::string_view text) {
  static const std::array<Class, 128> ascii = [] {
    std::array<Class, 128> table;
    for (std::int32_t c = 0; c < 128; ++c) table[c] = class_of(c);
    return table;
  }();
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte < 128) return {ascii[byte], 1};
  utf8proc_int32_t character = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), text.size(), &character);
  if (length < 1) return {Class::other, 1};
  return {class_of(character), static_cast<std::size_t>(length)};
}

// The end of the characters of one class that begin at `at`.
std::size_t run_end(std::string_view text, std::size_t at, Class kind) {
  while (at < text.size()) {
    const Character next = first_of(text.substr(at));
    if (next.kind != kind) break;
    at += next.bytes;
  }
  return at;
}

}  // namespace

std::size_t word_length(std::string_view text) {
  if (text[0] == '\'')
    for (const std::string_view contraction : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
      if (text.starts_with(contraction)) return contraction.size();
  const std::size_t front = text[0] == ' ' && text.size() > 1 ? 1 : 0;
  if (const Character next = first_of(text.substr(front)); next.kind != Class::space)
    return run_end(text, front + next.bytes, next.kind);
  // White space: all of it at the end of the text, else all but the last character, which belongs to what follows.
  std::size_t end = 0, last = 0;
  while (end < text.size()) {
    const Character next = first_of(text.substr(end));
    if (next.kind != Class::space) return last > 0 ? last : end;
    last = end;
    end += next.bytes;
  }
  return end;
}

std::size_t last_cut(std::string_view text) {
  // White space after a sign, or the end of a run of letters or digits, always begins a new word. A character that may
  // be incomplete is no place to cut.
  std::size_t at = 0, cut = 0;
  Class before = Class::space;
  constexpr std::size_t longest_character = 4;
  while (at + longest_character <= text.size()) {
    const Character next = first_of(text.substr(at));
    const bool run_ended = (before == Class::letter || before == Class::digit) && next.kind != before;
    if (at > 0 && (run_ended || (before != Class::space && next.kind == Class::space))) cut = at;
    before = next.kind;
    at += next.bytes;
  }
  return cut;
}

}  // namespace isobar::tokens
