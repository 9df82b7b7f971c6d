#include "isobar/tokens/byte_pairs.hpp"

#include <fstream>
#include <queue>
#include <sstream>
#include <tuple>
#include <utf8proc.h>

#include <nlohmann/json.hpp>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::tokens {
namespace {

constexpr std::size_t most_tokens = 1 << 16, most_words = 1 << 18, longest_remembered = 64;
constexpr std::string_view end_name = "<|endoftext|>";

std::string whole_file(const std::filesystem::path& path) {
  constexpr std::uintmax_t most = 64'000'000;
  std::error_code code;
  const std::uintmax_t size = std::filesystem::file_size(path, code);
  if (code) fail("{}: cannot be read: {}", path.string(), code.message());
  if (size > most) fail("{}: has {} bytes; a vocabulary has at most {}", path.string(), size, most);
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) fail("{}: cannot be read", path.string());
  return std::move(text).str();
}

// In GPT-2's files a byte is written as a printable character: itself if it is printable, else one from 256 on.
std::unordered_map<std::int32_t, std::uint8_t> bytes_of_characters() {
  std::unordered_map<std::int32_t, std::uint8_t> bytes;
  std::int32_t next = 256;
  for (std::int32_t b = 0; b < 256; ++b) {
    const bool seen = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    bytes[seen ? b : next++] = static_cast<std::uint8_t>(b);
  }
  return bytes;
}

class Spelling {
 public:
  // The bytes that a text in these files stands for.
  std::string bytes(std::string_view text) const {
    std::string result;
    while (!text.empty()) {
      utf8proc_int32_t character = 0;
      const auto length =
          utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), text.size(), &character);
      const auto found = length < 1 ? table_.end() : table_.find(character);
      if (found == table_.end()) fail("'{}' has a character that stands for no byte", one_line(text, 40));
      result += static_cast<char>(found->second);
      text.remove_prefix(length);
    }
    return result;
  }

 private:
  std::unordered_map<std::int32_t, std::uint8_t> table_ = bytes_of_characters();
};

std::uint32_t pair_of(Token left, Token right) { return static_cast<std::uint32_t>(left) << 16 | right; }

using Numbers = std::unordered_map<std::string, Token>;

Numbers read_encoder(const std::filesystem::path& path, const Spelling& spelling, std::vector<std::string>& texts) {
  const nlohmann::json tokens = nlohmann::json::parse(whole_file(path), nullptr, false);
  if (!tokens.is_object() || tokens.empty() || tokens.size() > most_tokens)
    fail("{}: is not a vocabulary: an object of 1 to {} tokens with their numbers", path.string(), most_tokens);
  texts.assign(tokens.size(), "");
  std::vector<bool> taken(tokens.size(), false);
  Numbers numbers;
  for (const auto& [name, number] : tokens.items()) {
    if (!number.is_number_unsigned() || number.get<std::uint64_t>() >= texts.size() || taken[number.get<std::size_t>()])
      fail("{}: token '{}' has number {}; valid: each of 0 to {} once", path.string(), one_line(name, 40),
           one_line(number.dump(), 20), texts.size() - 1);
    const auto token = static_cast<Token>(number.get<std::size_t>());
    taken[token] = true;
    // Special tokens may be any text; they are not made by merging.
    texts[token] = name.starts_with("<|") ? name : spelling.bytes(name);
    numbers.emplace(texts[token], token);
  }
  return numbers;
}

}  // namespace

BytePairs BytePairs::open(const std::filesystem::path& folder) {
  const Spelling spelling;
  BytePairs made;
  const Numbers numbers = read_encoder(folder / "encoder.json", spelling, made.texts_);
  const auto number_of = [&](const std::string& text, const std::string& where) {
    const auto found = numbers.find(text);
    if (found == numbers.end()) fail("{}: encoder.json has no token '{}'", where, one_line(text, 40));
    return found->second;
  };
  made.end_ = number_of(std::string(end_name), folder.string());
  for (int b = 0; b < 256; ++b)
    made.byte_tokens_.push_back(number_of(std::string(1, static_cast<char>(b)), folder.string()));

  const std::filesystem::path path = folder / "vocab.bpe";
  std::istringstream lines(whole_file(path));
  std::string line;
  std::int32_t rank = 0;
  for (std::int64_t at = 1; std::getline(lines, line); ++at) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || (at == 1 && line.starts_with("#version"))) continue;
    const std::string where = fmt::format("{} line {}", path.string(), at);
    const std::size_t gap = line.find(' ');
    if (gap == 0 || gap == std::string::npos || line.find(' ', gap + 1) != std::string::npos)
      fail("{}: '{}' is not a pair of tokens", where, one_line(line, 40));
    const std::string left = spelling.bytes(std::string_view(line).substr(0, gap)),
                      right = spelling.bytes(std::string_view(line).substr(gap + 1));
    const std::uint32_t pair = pair_of(number_of(left, where), number_of(right, where));
    made.merges_.emplace(pair, Merge{rank++, number_of(left + right, where)});
  }
  return made;
}

BytePairs BytePairs::bytes() {
  BytePairs made;
  for (int b = 0; b < 256; ++b) {
    made.texts_.emplace_back(1, static_cast<char>(b));
    made.byte_tokens_.push_back(static_cast<Token>(b));
  }
  made.end_ = 256;
  made.texts_.emplace_back(end_name);
  return made;
}

void BytePairs::encode_word(std::string_view word, std::vector<Token>& to) const {
  // The parts of the word as a list; a part that was merged into its left neighbour has length 0. The pair with the
  // lowest rank is merged first, the leftmost of equal ones: any word takes n log n steps.
  struct Part {
    Token token;
    std::size_t next, before;
    bool alive = true;
  };
  std::vector<Part> parts;
  for (std::size_t i = 0; i < word.size(); ++i)
    parts.push_back({byte_tokens_[static_cast<unsigned char>(word[i])], i + 1, i - 1});
  using Candidate = std::tuple<std::int32_t, std::size_t, Token, Token>;  // rank, left part, both tokens
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  const auto consider = [&](std::size_t left) {
    if (left >= parts.size() || parts[left].next >= parts.size()) return;
    const Token a = parts[left].token, b = parts[parts[left].next].token;
    if (const auto found = merges_.find(pair_of(a, b)); found != merges_.end())
      candidates.emplace(found->second.rank, left, a, b);
  };
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) consider(i);
  while (!candidates.empty()) {
    const auto [rank, left, a, b] = candidates.top();
    candidates.pop();
    Part& part = parts[left];
    if (!part.alive || part.token != a || part.next >= parts.size() || parts[part.next].token != b) continue;
    parts[part.next].alive = false;
    part.token = merges_.at(pair_of(a, b)).made;
    part.next = parts[part.next].next;
    if (part.next < parts.size()) parts[part.next].before = left;
    consider(part.before);
    consider(left);
  }
  for (std::size_t i = 0; i < parts.size(); i = parts[i].next) to.push_back(parts[i].token);
}

void BytePairs::encode(std::string_view text, std::vector<Token>& to) {
  if (merges_.empty()) {
    for (const char c : text) to.push_back(byte_tokens_[static_cast<unsigned char>(c)]);
    return;
  }
  while (!text.empty()) {
    const std::string_view word = text.substr(0, word_length(text));
    text.remove_prefix(word.size());
    if (const auto found = seen_.find(word); found != seen_.end()) {
      to.insert(to.end(), found->second.begin(), found->second.end());
      continue;
    }
    const std::size_t before = to.size();
    encode_word(word, to);
    if (word.size() > longest_remembered) continue;
    if (seen_.size() >= most_words) seen_.clear();
    seen_.emplace(word, std::vector<Token>(to.begin() + before, to.end()));
  }
}

std::string BytePairs::decode(std::span<const Token> tokens) const {
  std::string text;
  for (const Token token : tokens) {
    if (token >= texts_.size()) fail("{} is not a token; valid: 0 to {}", token, texts_.size() - 1);
    text += texts_[token];
  }
  return text;
}

}  // namespace isobar::tokens
