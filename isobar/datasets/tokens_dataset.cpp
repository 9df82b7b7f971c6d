// tokens(path=..., context=1024, stride=0, vocabulary=50257, samples=0): streams of tokens for language models: raw
// little-endian uint16 numbers, nothing else. x is `context` tokens and y the token that follows each of them; windows
// begin every `stride` tokens (0: every `context`) and do not cross files. A folder's .bin and .tokens files are read
// one after another.
#include <algorithm>
#include <mutex>
#include <optional>

#include "isobar/datasets/file_list.hpp"
#include "isobar/datasets/packing.hpp"
#include "isobar/disk/output_file.hpp"
#include "isobar/files/input_file.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_tokens = 1 << 16;

std::vector<fs::path> token_files(const fs::path& path) { return list_files(path, {".bin", ".tokens"}); }

class Tokens final : public Dataset {
 public:
  Tokens(const fs::path& path, std::int64_t context, std::int64_t stride, std::int64_t vocabulary, std::int64_t samples,
         Survey& survey)
      : context_(context), stride_(stride > 0 ? stride : context), vocabulary_(vocabulary) {
    std::int64_t found = 0;
    for (const fs::path& file : token_files(path)) {
      files_.push_back(std::make_unique<Stream>(file, found));
      Stream& stream = *files_.back();
      stream.bytes = survey.number("bytes", file, [&] { return stream.opened().size(); });
      const std::int64_t bytes = stream.bytes, tokens = bytes / 2;
      if (bytes % 2 != 0) fail("{}: has {} bytes; a token has two", file.string(), bytes);
      if (tokens > context) found += (tokens - 1 - context) / stride_ + 1;
    }
    if (found == 0)
      fail("{}: no file has the {} tokens of one sample, {} and the one that follows", path.string(), context + 1,
           context);
    size_ = limited(path, samples, found);
  }

  std::int64_t size() const override { return size_; }
  std::vector<Field> fields() const override { return {{"x", Shape{context_}}, {"y", Shape{context_}}}; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    const Stream& stream = stream_of(index);
    const std::int64_t first = (index - stream.first) * stride_;
    thread_local std::vector<std::uint8_t> bytes;
    bytes.resize(2 * (context_ + 1));
    const files::InputFile& file = stream.opened();
    if (file.size() != stream.bytes)
      fail("{}: has {} bytes, there were {}", stream.path.string(), file.size(), stream.bytes);
    file.read_at(2 * first, bytes);
    const std::size_t count = context_;
    for (std::size_t i = 0; i <= count; ++i) {
      const int token = bytes[2 * i] | bytes[2 * i + 1] << 8;
      if (token >= vocabulary_)
        fail("{}: number {} is {}; valid tokens: 0 to {}", stream.path.string(), first + i, token, vocabulary_ - 1);
      if (i < count) out[0][i] = static_cast<float>(token);
      if (i > 0) out[1][i - 1] = static_cast<float>(token);
    }
  }

  std::string where(std::int64_t index) const override {
    const Stream& stream = stream_of(index);
    return fmt::format("{} from token {}", stream.path.string(), (index - stream.first) * stride_);
  }

  std::vector<FileSpan> spans() const override {
    std::vector<FileSpan> list;
    for (std::size_t f = 0; files_.size() > 1 && f < files_.size() && files_[f]->first < size_; ++f) {
      const std::int64_t end = f + 1 < files_.size() ? std::min(size_, files_[f + 1]->first) : size_;
      list.push_back({files_[f]->path, files_[f]->first, end - files_[f]->first});
    }
    return list;
  }

 private:
  struct Stream {
    Stream(fs::path named, std::int64_t number) : path(std::move(named)), first(number) {}

    const files::InputFile& opened() const {
      std::call_once(opening, [&] { file.emplace(path); });
      return *file;
    }

    fs::path path;
    std::int64_t first;  // the number of its first sample
    std::int64_t bytes = 0;
    mutable std::once_flag opening;
    mutable std::optional<files::InputFile> file;
  };

  // The last stream that begins at or before the sample: files too short for a sample have none.
  const Stream& stream_of(std::int64_t index) const {
    return **(std::ranges::upper_bound(files_, index, {}, [](const auto& stream) { return stream->first; }) - 1);
  }

  std::int64_t context_, stride_, vocabulary_, size_ = 0;
  std::vector<std::unique_ptr<Stream>> files_;
};

std::unique_ptr<Dataset> make_tokens(Args& args, Survey& survey) {
  const std::int64_t context = args.integer("context", 1024), stride = args.integer("stride", 0),
                     vocabulary = args.integer("vocabulary", 50257), samples = args.integer("samples", 0);
  args.require(context >= 1 && context <= 1 << 24, "context from 1 to 16777216");
  args.require(stride >= 0, "stride >= 0, where 0 means the context");
  args.require(vocabulary >= 1 && vocabulary <= most_tokens, "vocabulary from 1 to 65536");
  args.require(samples >= 0, "samples >= 0, where 0 means all");
  const fs::path path = args.text("path");
  args.finish();
  return std::make_unique<Tokens>(path, context, stride, vocabulary, samples, survey);
}

std::int64_t highest(std::span<const std::uint8_t> head) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i + 1 < head.size(); i += 2) most = std::max<std::int64_t>(most, head[i] | head[i + 1] << 8);
  return most;
}

// The stream has no magic number: its name, an even size, and numbers in GPT-2's vocabulary must do.
bool recognises_tokens(const Glance& glance) {
  constexpr std::int64_t gpt2 = 50257;
  std::error_code code;
  return named_so(glance.inside[0], {".bin", ".tokens"}) && fs::file_size(glance.inside[0], code) % 2 == 0 && !code &&
         glance.head.size() >= 4 && highest(glance.head) < gpt2;
}

Contents look_tokens(const Glance& glance) {
  const std::vector<fs::path> files = glance.folder ? token_files(glance.path) : glance.inside;
  std::int64_t tokens = 0;
  for (const fs::path& file : files) tokens += files::InputFile(file).size() / 2;
  Contents contents;
  contents.summary = fmt::format("raw tokens, {} in {} file{}", tokens, files.size(), files.size() == 1 ? "" : "s");
  contents.parts.push_back(
      {"tokens", fmt::format("[{}]", tokens), "uint16",
       fmt::format("at most {} among the first {}", highest(glance.head), glance.head.size() / 2)});
  Spec spec("tokens", {{"path", glance.path.string()}});
  for (std::int64_t context = 1024; context > 1 && context >= tokens; context /= 2) spec.set("context", context / 2);
  contents.readers.push_back(std::move(spec));
  return contents;
}

/// tokens() as a format to write: the tokens of x one after another, and at the end the last token of y.
class TokenSamples final : public SampleWriter {
 public:
  TokenSamples(const fs::path& to, const Outline& outline) : outline_(outline), file_(to) {}

  void write(std::span<const std::span<const float>> fields) override {
    pack_field(files::NumberType::uint16, count_, outline_.fields[0], fields[0], bytes_);
    file_.write(bytes_);
    last_.clear();
    if (fields.size() > 1 && fields[1].size() == fields[0].size())
      pack_field(files::NumberType::uint16, count_, {"y", Shape{1}}, fields[1].last(1), last_);
    ++count_;
  }

  void finish() override {
    file_.write(last_);
    file_.commit();
  }

 private:
  Outline outline_;
  disk::OutputFile file_;
  std::vector<std::uint8_t> bytes_, last_;
  std::int64_t count_ = 0;
};

std::unique_ptr<SampleWriter> create_tokens(const fs::path& to, const Outline& outline, Args& args) {
  args.finish();
  return std::make_unique<TokenSamples>(to, outline);
}

}  // namespace

extern const DatasetRow tokens;
const DatasetRow tokens{"tokens",    "raw streams of uint16 tokens, for language models",
                        make_tokens, recognises_tokens,
                        look_tokens, create_tokens};

}  // namespace isobar::datasets
