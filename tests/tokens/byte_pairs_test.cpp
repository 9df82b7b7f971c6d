// Byte-pair encoding: the pattern of words, merges by rank, round trips, the tokens that another encoder finds, and
// those of GPT-2.
#include "isobar/tokens/byte_pairs.hpp"

#include <fstream>

#include "isobar/base/random.hpp"

#include "tests/expect_error.hpp"
#include "tests/files/made_files.hpp"
#include "tests/files/public_data.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::tokens {
namespace {

using namespace isobar::tests;

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> list;
  while (!text.empty()) {
    list.emplace_back(text.substr(0, word_length(text)));
    text.remove_prefix(list.back().size());
  }
  return list;
}

TEST(Words, GptTwosPattern) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words("Hello world"), (Words{"Hello", " world"}));
  EXPECT_EQ(words("it's we'll they've I'm he'd you're don't"),
            (Words{"it", "'s", " we", "'ll", " they", "'ve", " I", "'m", " he", "'d", " you", "'re", " don", "'t"}));
  EXPECT_EQ(words("it'S 'sfoo"), (Words{"it", "'", "S", " '", "sfoo"}));
  EXPECT_EQ(words("!'s"), (Words{"!'", "s"}));
  EXPECT_EQ(words("a  b"), (Words{"a", " ", " b"}));
  EXPECT_EQ(words("a   "), (Words{"a", "   "}));
  EXPECT_EQ(words("a\n\nb \n c"), (Words{"a", "\n", "\n", "b", " \n", " c"}));
  EXPECT_EQ(words(" \tx"), (Words{" ", "\t", "x"}));
  EXPECT_EQ(words("1,000 m\xC2\xB2!?"), (Words{"1", ",", "000", " m", "\xC2\xB2", "!?"}));  // the small 2 is a number
  EXPECT_EQ(words("na\xC3\xAFve \xE4\xB8\xAD\xE6\x96\x87\xE3\x80\x82"),
            (Words{"na\xC3\xAFve", " \xE4\xB8\xAD\xE6\x96\x87", "\xE3\x80\x82"}));
  EXPECT_EQ(words("a\xC2\xA0\xE3\x80\x80z"), (Words{"a", "\xC2\xA0", "\xE3\x80\x80", "z"}));  // spaces of other scripts
  EXPECT_EQ(words("ab\xFF\xC3"), (Words{"ab", "\xFF\xC3"}));
  EXPECT_EQ(words(" "), (Words{" "}));
}

TEST(Words, ATextCanBeCutWithoutChangingThem) {
  const std::string text =
      "It's 12 o'clock;  say\n\n\"na\xC3\xAFve \xE4\xB8\xAD\xE6\x96\x87\" 99x\xE2\x80\x83 'll end of it  ";
  const auto whole = words(text);
  for (std::size_t length = 1; length <= text.size(); ++length) {
    const std::size_t cut = last_cut(std::string_view(text).substr(0, length));
    ASSERT_LE(cut, length);
    auto parts = words(std::string_view(text).substr(0, cut));
    for (std::string& word : words(std::string_view(text).substr(cut))) parts.push_back(std::move(word));
    EXPECT_EQ(parts, whole) << length << " cut at " << cut;
  }
  EXPECT_GT(last_cut(text), text.size() - 14);
}

// A vocabulary of the 256 bytes, some merges, and the end of a text; bytes are written as GPT-2 writes them.
void write_vocabulary(const std::filesystem::path& folder,
                      const std::vector<std::pair<std::string, std::string>>& merges) {
  std::filesystem::create_directories(folder);
  std::ofstream encoder(folder / "encoder.json"), bpe(folder / "vocab.bpe");
  const auto utf8 = [](int c) {
    return c < 128 ? std::string(1, static_cast<char>(c))
                   : std::string{static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
  };
  encoder << "{";
  int next = 256;
  for (int b = 0; b < 256; ++b) {
    const bool seen = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    const std::string name = utf8(seen ? b : next++);
    encoder << (b ? ", " : "") << '"' << (name == "\"" || name == "\\" ? "\\" : "") << name << "\": " << b;
  }
  bpe << "#version: 0.2\n";
  int number = 256;
  for (const auto& [left, right] : merges) {
    encoder << ", \"" << left << right << "\": " << number++;
    bpe << left << " " << right << "\n";
  }
  encoder << ", \"<|endoftext|>\": " << number << "}";
}

TEST(BytePairs, LowestRankFirst) {
  const TemporaryFolder folder;
  write_vocabulary(folder / "v",
                   {{"b", "c"}, {"a", "b"}, {"a", "bc"}, {"\xC4\xA0", "a"}, {"l", "l"}});  // the fourth: " a"
  BytePairs pairs = BytePairs::open(folder / "v");
  EXPECT_EQ(pairs.size(), 262);
  EXPECT_EQ(pairs.end_of_text(), 261);
  const auto encoded = [&](std::string_view text) {
    std::vector<Token> tokens;
    pairs.encode(text, tokens);
    EXPECT_EQ(pairs.decode(tokens), text);
    return tokens;
  };
  EXPECT_EQ(encoded("abc"), (std::vector<Token>{258}));  // b and c first, then a
  EXPECT_EQ(encoded("ab abd"), (std::vector<Token>{257, 32, 257, 'd'}));
  EXPECT_EQ(encoded("x a"), (std::vector<Token>{'x', 259}));
  EXPECT_EQ(encoded("lllll"), (std::vector<Token>{260, 260, 'l'}));
  const std::string long_word(300'000, 'l');
  EXPECT_EQ(encoded(long_word).size(), 150'000u);
  std::string bytes;
  const Random random(3);
  for (std::uint64_t i = 0; i < 5000; ++i) bytes += static_cast<char>(random.below(i, 256));
  encoded(bytes);
}

TEST(BytePairs, BytesNeedNoFiles) {
  BytePairs pairs = BytePairs::bytes();
  std::vector<Token> tokens;
  pairs.encode("h\xC3\xA9", tokens);
  EXPECT_EQ(tokens, (std::vector<Token>{'h', 0xC3, 0xA9}));
  EXPECT_EQ(pairs.end_of_text(), 256);
  EXPECT_HAS(error_of([&] { pairs.decode(std::vector<Token>{300}); }), "300 is not a token");
}

TEST(BytePairs, DamagedVocabulariesAreNamed) {
  const TemporaryFolder folder;
  const auto message = [&] { return error_of([&] { BytePairs::open(folder / "v"); }); };
  const auto put = [&](const char* name, const std::string& text) {
    write_bytes(folder / "v" / name, FileBytes(text.begin(), text.end()));
  };
  EXPECT_HAS(message(), "encoder.json");
  put("encoder.json", "{\"a\": ");
  EXPECT_HAS(message(), "is not a vocabulary");
  put("encoder.json", "{\"a\": 7}");
  EXPECT_HAS(message(), "token 'a' has number 7");
  put("encoder.json", "{\"a\": 0}");
  EXPECT_HAS(message(), "no token '<|endoftext|>'");
  write_vocabulary(folder / "v", {{"a", "b"}});
  put("vocab.bpe", "a b\na  b\n");
  EXPECT_HAS(message(), "vocab.bpe line 2: 'a  b' is not a pair");
  put("vocab.bpe", "a c\n");
  EXPECT_HAS(message(), "no token 'ac'");
}

TEST(BytePairs, AnotherEncoderFindsTheSameTokens) {
  const TemporaryFolder folder;
  make_with("make_vocabulary.py", folder / "v");
  BytePairs pairs = BytePairs::open(folder / "v");
  EXPECT_EQ(pairs.size(), 256 + 400 + 1);
  std::ifstream in(folder / "v/text", std::ios::binary), list(folder / "v/tokens");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  std::vector<Token> expected, found;
  for (Token token; list >> token;) expected.push_back(token);
  pairs.encode(text, found);
  EXPECT_GT(text.size(), 10'000u);
  EXPECT_LT(expected.size(), text.size() / 2);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(pairs.decode(found), text);
}

TEST(BytePairs, KnownTokensOfGptTwo) {
  const auto folder = public_data("text/gpt2");
  if (folder.empty()) GTEST_SKIP() << "the vocabulary of GPT-2 is not beside this tree";
  BytePairs pairs = BytePairs::open(folder);
  EXPECT_EQ(pairs.size(), 50257);
  EXPECT_EQ(pairs.end_of_text(), 50256);
  const auto encoded = [&](std::string_view text) {
    std::vector<Token> tokens;
    pairs.encode(text, tokens);
    return tokens;
  };
  EXPECT_EQ(encoded("Hello world"), (std::vector<Token>{15496, 995}));
  EXPECT_EQ(encoded("Hello, my dog is cute"), (std::vector<Token>{15496, 11, 616, 3290, 318, 13779}));
  EXPECT_EQ(encoded("The quick brown fox jumps over the lazy dog"),
            (std::vector<Token>{464, 2068, 7586, 21831, 18045, 625, 262, 16931, 3290}));
  EXPECT_EQ(encoded("\n\n"), (std::vector<Token>{628}));
  EXPECT_EQ(encoded("\n\na"), (std::vector<Token>{198, 198, 64}));
  std::ifstream in(folder.parent_path() / "tinyshakespeare.txt");
  const std::string plays((std::istreambuf_iterator<char>(in)), {});
  const auto tokens = encoded(plays);
  EXPECT_EQ(tokens.size(), 338'025u);  // as nanoGPT counts them
  EXPECT_EQ(pairs.decode(tokens), plays);
}

}  // namespace
}  // namespace isobar::tokens
