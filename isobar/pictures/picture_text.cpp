// text: how a language model continues the beginning of a test text, beside the real continuation. Tokens are drawn at
// temperature 0.8 with a fixed seed. Bytes are shown as text, byte pairs too if their vocabulary (encoder.json,
// vocab.bpe) is in the folder of the tokens, and other tokens as numbers.
#include <algorithm>
#include <cmath>

#include "isobar/base/clock.hpp"
#include "isobar/base/random.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/pictures/subject.hpp"
#include "isobar/tokens/byte_pairs.hpp"

namespace isobar::pictures {
namespace {

using tokens::Token;

constexpr std::size_t most_prompt = 96, most_made = 160, texts = 2;
constexpr double temperature = 0.8;
constexpr std::uint64_t seed = 1;

// Tokens as text, as far as the vocabulary is known.
class Reading {
 public:
  Reading(std::int64_t vocabulary, const std::string& where) {
    const std::filesystem::path folder =
        std::filesystem::path(where.substr(0, where.rfind(" from token "))).parent_path();
    std::error_code code;
    if (vocabulary == 256 || vocabulary == 257) pairs_ = tokens::BytePairs::bytes();
    else if (std::filesystem::exists(folder / "encoder.json", code) &&
             std::filesystem::exists(folder / "vocab.bpe", code))
      pairs_ = tokens::BytePairs::open(folder);
    // A network may have a few more tokens than the vocabulary, rounded up.
    if (pairs_ && pairs_->size() > vocabulary + 1) pairs_.reset();
  }

  bool known() const { return pairs_.has_value(); }

  std::string text(std::span<const float> tokens) const {
    std::string text;
    for (const float number : tokens) {
      const auto token = static_cast<Token>(number);
      if (!pairs_) text += fmt::format("{}{}", text.empty() ? "" : " ", token);
      else if (token == pairs_->end_of_text()) text += "\n[end of text]\n";
      else if (token < pairs_->size()) text += pairs_->decode(std::span(&token, 1));
    }
    return text;
  }

 private:
  std::optional<tokens::BytePairs> pairs_{};
};

// Readable text: invalid UTF-8, such as half a character, and control characters are replaced.
std::string readable(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size();) {
    const auto first = static_cast<unsigned char>(bytes[i]);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xC2 && first < 0xE0 ? 2
                               : first >= 0xE0 && first < 0xF0 ? 3
                               : first >= 0xF0 && first < 0xF5 ? 4
                                                               : 0;
    bool whole = length > 0 && i + length <= bytes.size();
    for (std::size_t k = 1; whole && k < length; ++k) whole = (static_cast<unsigned char>(bytes[i + k]) & 0xC0) == 0x80;
    const bool control = length == 1 && first < 0x20 && first != '\n' && first != '\t';
    text += whole && !control ? std::string(bytes.substr(i, length)) : "\uFFFD";
    i += whole ? length : 1;
  }
  return text;
}

std::size_t drawn_token(std::span<const float> numbers, double uniform) {
  std::vector<float> cooled(numbers.begin(), numbers.end());
  for (float& number : cooled) number /= static_cast<float>(temperature);
  const std::vector<double> q = probabilities(cooled);
  double sum = 0;
  for (std::size_t i = 0; i < q.size(); ++i)
    if ((sum += q[i]) >= uniform) return i;
  return q.size() - 1;
}

// Continues a prompt; when the context is full, its older half is dropped.
std::vector<float> continued(Subject& subject, std::span<const float> prompt, double until) {
  const std::size_t context = subject.input_shape()[0];
  const std::size_t vocabulary = subject.classes();
  const Random random(seed);
  std::vector<float> window(prompt.begin(), prompt.end()), made;
  while (made.size() < most_made && (made.size() < 8 || now_seconds() < until)) {
    if (window.size() == context) window.erase(window.begin(), window.begin() + context / 2);
    train::Values x{subject.input_shape(), window};
    x.numbers.resize(context);
    const train::Values prediction = subject.predict(x);
    const auto last = std::span(prediction.numbers).subspan((window.size() - 1) * vocabulary, vocabulary);
    if (!std::ranges::all_of(last, [](float v) { return std::isfinite(v); }))
      fail("the network's numbers are not finite");
    const auto token = static_cast<float>(drawn_token(last, random.uniform(made.size())));
    window.push_back(token);
    made.push_back(token);
  }
  return made;
}

std::string quality(const Subject& subject, const Reading& reading, std::size_t bytes, std::size_t tokens) {
  const auto& results = subject.request().results;
  double perplexity = 0;
  if (const auto found = results.find("perplexity"); found != results.end()) perplexity = found->second;
  else if (const auto loss = results.find("loss"); loss != results.end() && subject.request().loss.arguments().empty())
    perplexity = std::exp(loss->second);
  if (!(perplexity >= 1) || !std::isfinite(perplexity)) return "";
  std::string text =
      fmt::format(" Perplexity on the test set: {:.3g} per token, of {} tokens", perplexity, subject.classes());
  if (reading.known() && bytes > 0)
    text += fmt::format("; {:.2f} bits per character", std::log2(perplexity) * static_cast<double>(tokens) / bytes);
  return text + ".";
}

bool fits_text(const Subject& subject) { return subject.task() == Task::tokens && subject.request().viewer; }

std::vector<Picture> draw_text(Subject& subject, const std::filesystem::path& folder) {
  const datasets::Dataset& set = *subject.dataset();
  const Reading reading(subject.classes(), set.where(0));
  const std::vector<datasets::Field> fields = set.fields();
  const auto input = static_cast<std::size_t>(std::ranges::find(fields, subject.input_name(), &datasets::Field::name) -
                                              fields.begin());
  std::vector<std::vector<float>> memory;
  for (const datasets::Field& field : fields) memory.emplace_back(field.shape.count());
  const std::vector<std::span<float>> out(memory.begin(), memory.end());

  std::string all;
  std::size_t bytes = 0, tokens = 0, made_tokens = 0;
  const std::size_t wanted = std::min<std::size_t>(texts, set.size());
  for (std::size_t i = 0; i < wanted; ++i) {
    const auto sample = static_cast<std::int64_t>(i) * set.size() / static_cast<std::int64_t>(wanted);
    set.read(sample, out);
    const std::span<const float> whole(memory[input]);
    const std::span<const float> prompt = whole.first(std::min(most_prompt, whole.size() / 2));
    const double until = now_seconds() + subject.request().most_seconds / static_cast<double>(wanted);
    const std::vector<float> made = continued(subject, prompt, until);
    const auto rest = whole.subspan(prompt.size());
    made_tokens = std::max(made_tokens, made.size());
    bytes += reading.text(whole).size(), tokens += whole.size();
    all += fmt::format(
        "{}=== Beginning of test sample {} ===\n{}\n\n--- continued by the network ---\n{}\n\n"
        "--- continued in the text ---\n{}\n",
        i > 0 ? "\n\n" : "", sample, readable(reading.text(prompt)), readable(reading.text(made)),
        readable(reading.text(rest.first(std::min(rest.size(), most_made)))));
  }
  disk::write_text(folder / "text.txt", all);
  return {{"", "Text generated by the network",
           fmt::format(
               "Beginnings from the test set, and up to {} tokens drawn at temperature {} with a fixed seed.{}{}",
               made_tokens, temperature, reading.known() ? "" : " The vocabulary is not known, so tokens are numbers.",
               quality(subject, reading, bytes, tokens)),
           "text.txt"}};
}

}  // namespace

extern const PictureKind made_text{"text", "generated text", fits_text, draw_text};

}  // namespace isobar::pictures
