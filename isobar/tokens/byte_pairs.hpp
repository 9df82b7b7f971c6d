// BytePairs: the byte-level byte-pair encoding of GPT-2. Text is cut into words by a fixed pattern over classes of
// characters; inside a word, neighbours are merged in the order of the learned merges. Every text, even if it is not
// valid UTF-8, is restored from its tokens byte for byte.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace isobar::tokens {

using Token = std::uint16_t;

class BytePairs {
 public:
  /// Reads encoder.json and vocab.bpe from a folder, in GPT-2's format; at most 65536 tokens.
  static BytePairs open(const std::filesystem::path& folder);
  /// The 256 bytes as tokens, and 256 for the end of a text.
  static BytePairs bytes();

  std::int64_t size() const { return std::ssize(texts_); }
  /// The token that ends a text.
  Token end_of_text() const { return end_; }
  /// Appends the tokens of a text. Use an encoder from one thread at a time: it remembers the words it has seen.
  void encode(std::string_view text, std::vector<Token>& to);
  /// The text of some tokens; an invalid token is an Error.
  std::string decode(std::span<const Token> tokens) const;

 private:
  struct Merge {
    std::int32_t rank;
    Token made;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Words = std::unordered_map<std::string, std::vector<Token>, Hash, std::equal_to<>>;

  void encode_word(std::string_view word, std::vector<Token>& to) const;

  std::vector<std::string> texts_;                   // of every token, in bytes
  std::vector<Token> byte_tokens_;                   // of the 256 bytes
  std::unordered_map<std::uint32_t, Merge> merges_;  // by left and right token
  Token end_ = 0;
  Words seen_;
};

/// The length of the word `text` begins with, by GPT-2's pattern: a contraction ('s), letters, digits or other signs,
/// each with or without a leading space, or white space; `text` is not empty, and nothing is assumed to follow it.
std::size_t word_length(std::string_view text);

/// The last position where `text` can be cut so that both parts give the tokens of the whole, whatever follows; 0 if
/// there is none.
std::size_t last_cut(std::string_view text);

}  // namespace isobar::tokens
