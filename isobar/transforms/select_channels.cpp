// select_channels(channels=[0, 1, 10]): some of the channels, the last axis, in the order given; by name where the data
// set has names for them: select_channels(channels=[TMQ, PSL]).
#include <algorithm>
#include <charconv>

#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {
namespace {

class SelectChannels final : public Transform {
 public:
  explicit SelectChannels(std::vector<std::string> wanted) : wanted_(std::move(wanted)) {}

  Grid infer(Grid field) const override {
    if (field.shape.rank() < 1) fail("transform 'select_channels': '{}' has no channels", field.name);
    const std::vector<std::int64_t> numbers = numbers_in(field);
    std::vector<std::string> names;
    for (const std::int64_t number : numbers)
      if (!field.channels.empty()) names.push_back(field.channels[number]);
    field.channels = std::move(names);
    field.shape[-1] = std::ssize(numbers);
    return field;
  }

  std::optional<Box> source(const Grid& field, const Box& part, const Draw*) const override {
    return part.with(-1, 0, field.shape[-1]);
  }

  void apply(const Portion& at, std::span<const float> in, std::span<float> out, const Draw&) const override {
    const std::vector<std::int64_t> numbers = numbers_in(at.field);
    const std::int64_t* const wanted = numbers.data() + at.to.begin.back();
    const std::size_t width = at.field.shape[-1], count = at.to.shape[-1];
    const float* from = in.data();
    float* to = out.data();
    for (std::size_t i = 0; i < in.size() / width; ++i, from += width, to += count)
      for (std::size_t c = 0; c < count; ++c) to[c] = from[wanted[c]];
  }

  bool in_place() const override { return false; }

 private:
  std::vector<std::int64_t> numbers_in(const Grid& field) const {
    std::vector<std::int64_t> numbers;
    for (const std::string& text : wanted_) {
      std::int64_t number = -1;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size()) {
        const auto named = std::ranges::find(field.channels, text);
        if (field.channels.empty())
          fail(
              "transform 'select_channels': channel '{}' cannot be found by name: the data set names none; numbers 0 "
              "to "
              "{} are valid",
              text, field.shape[-1] - 1);
        if (named == field.channels.end())
          fail("transform 'select_channels': no channel '{}'{}", text, suggestion(text, field.channels));
        number = named - field.channels.begin();
      }
      if (number < 0 || number >= field.shape[-1])
        fail("transform 'select_channels': '{}' is {} and has no channel {}; valid: 0 to {}", field.name,
             field.shape.str(), number, field.shape[-1] - 1);
      numbers.push_back(number);
    }
    return numbers;
  }

  std::vector<std::string> wanted_;  // numbers and names
};

}  // namespace

extern const Row<Transform> select_channels;
const Row<Transform> select_channels{"select_channels", "some of the channels, by number or by name",
                                     [](Args& args) -> std::unique_ptr<Transform> {
                                       std::vector<std::string> wanted = args.texts("channels", {});
                                       args.require(!wanted.empty(), "channels, a list of numbers from 0 or of names");
                                       return std::make_unique<SelectChannels>(std::move(wanted));
                                     }};

}  // namespace isobar::transforms
