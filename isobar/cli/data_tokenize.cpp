// isobar data tokenize: converts texts to the raw stream of tokens that the data set tokens(...) reads. A text is read
// in pieces, cut where this changes no token, so memory does not grow with its length.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/spec.hpp"
#include "isobar/base/text.hpp"
#include "isobar/cli/data.hpp"
#include "isobar/disk/output_file.hpp"
#include "isobar/tokens/byte_pairs.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

namespace fs = std::filesystem;

struct TokenizeRequest {
  std::string vocabulary, out;
  std::vector<std::string> texts;
};

constexpr std::size_t piece_bytes = 1 << 22, most_bytes = 1 << 26;

struct Counts {
  std::int64_t bytes = 0, tokens = 0;
};

void put(const std::vector<tokens::Token>& tokens, disk::OutputFile& to, Counts& counts) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(2 * tokens.size());
  for (const tokens::Token token : tokens) {
    bytes.push_back(static_cast<std::uint8_t>(token));
    bytes.push_back(static_cast<std::uint8_t>(token >> 8));
  }
  to.write(bytes);
  counts.tokens += static_cast<std::int64_t>(tokens.size());
}

void add_text(const std::string& path, tokens::BytePairs& pairs, disk::OutputFile& to, Counts& counts) {
  std::ifstream in(path, std::ios::binary);
  if (!in || fs::is_directory(path)) fail("{}: cannot be opened for reading", path);
  std::string text;
  std::vector<tokens::Token> tokens;
  std::size_t wanted = piece_bytes;
  while (in && !stop_requested()) {
    const std::size_t held = text.size();
    text.resize(wanted);
    in.read(text.data() + held, static_cast<std::streamsize>(wanted - held));
    text.resize(held + static_cast<std::size_t>(in.gcount()));
    counts.bytes += in.gcount();
    const std::size_t cut = in ? tokens::last_cut(text) : text.size();
    if (cut == 0 && wanted >= most_bytes)
      fail("{}: {} without a space or the end of a word are no text", path, human_bytes(static_cast<double>(wanted)));
    wanted = cut == 0 ? 2 * wanted : piece_bytes;
    tokens.clear();
    pairs.encode(std::string_view(text).substr(0, cut), tokens);
    put(tokens, to, counts);
    text.erase(0, cut);
  }
  if (in.bad()) fail("{}: cannot be read", path);
  put({pairs.end_of_text()}, to, counts);
}

void tokenize(const TokenizeRequest& request) {
  catch_signals();
  std::error_code code;
  if (fs::exists(request.out, code)) fail("{}: exists already; nothing is written over it", request.out);
  const bool bytes = request.vocabulary == "bytes";
  tokens::BytePairs pairs = bytes ? tokens::BytePairs::bytes() : tokens::BytePairs::open(request.vocabulary);
  disk::OutputFile out(request.out);
  Counts counts;
  const double begin = now_seconds();
  for (const std::string& text : request.texts) {
    add_text(text, pairs, out, counts);
    if (stop_requested()) fail("stopped; {} was not written", request.out);
  }
  out.commit();
  const double seconds = now_seconds() - begin;
  fmt::print("{}: {} tokens of {} ({:.2f} bytes per token) from {} text{}, {} per second\n", request.out,
             with_commas(counts.tokens), human_bytes(static_cast<double>(counts.bytes)),
             static_cast<double>(counts.bytes) / static_cast<double>(counts.tokens), request.texts.size(),
             request.texts.size() == 1 ? "" : "s",
             human_bytes(static_cast<double>(counts.bytes) / std::max(seconds, 1e-9)));
  const Spec reader("tokens", {{"path", request.out}, {"context", 1024}, {"vocabulary", pairs.size()}});
  fmt::print("In a recipe:\n\n[data]\ntrain = \"{}\"\n", reader.str());
}

}  // namespace

void declare_tokenize(CLI::App& data) {
  CLI::App& command = *data.add_subcommand("tokenize", "turn texts into the tokens a language model reads");
  command.footer(
      "Writes raw uint16 numbers, the format of nanoGPT's train.bin, with the token for the end of a text after each.\n"
      "The vocabulary is a folder with GPT-2's encoder.json and vocab.bpe, or 'bytes' for one token a byte.");
  const auto request = std::make_shared<TokenizeRequest>();
  command.add_option("--vocabulary", request->vocabulary, "a folder, or 'bytes'")->required()->type_name("DIR");
  command.add_option("--out", request->out, "the file to write")->required()->type_name("FILE");
  command.add_option("TEXT", request->texts, "files of text, in UTF-8")->required();
  command.callback([request] { tokenize(*request); });
}

}  // namespace isobar::cli
