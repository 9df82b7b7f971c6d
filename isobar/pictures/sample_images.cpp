#include "isobar/pictures/sample_images.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isobar/metrics/class_targets.hpp"
#include "isobar/metrics/metric.hpp"
#include "isobar/pictures/sample_picture.hpp"

namespace isobar::pictures {
namespace {

constexpr std::int64_t most_image_channels = 4, most_numbers = 16, most_image_edge = 512, image_gap = 4;

using train::Values;

bool is_spatial(const Shape& shape) { return shape.rank() == 3 || shape.rank() == 4; }

/// The channels of `values` side by side, each with the colour range of that channel in `scale`.
files::Image channels_image(const Values& values, const Values& scale) {
  const Planes planes(values.shape, true);
  const std::int64_t channels = std::min(planes.channels, most_image_channels);
  const std::int64_t reduced = (std::max(planes.height, planes.width) + most_image_edge - 1) / most_image_edge;
  const std::int64_t width = std::max<std::int64_t>(1, planes.width / reduced) + image_gap;
  files::Image image{std::max<std::int64_t>(1, planes.height / reduced), channels * width - image_gap, 3, {}};
  image.pixels.assign(image.height * image.width * 3, 255);
  for (std::int64_t c = 0; c < channels; ++c) {
    const auto [low, high] = range_of(planes.plane(scale.numbers, c));
    const float per_range = high > low ? 1 / (high - low) : 1;
    const Plane plane = planes.plane(values.numbers, c);
    for (std::int64_t row = 0; row < image.height; ++row)
      for (std::int64_t column = 0; column < width - image_gap; ++column) {
        const Colour colour = colour_at((plane.at(row * reduced, column * reduced) - low) * per_range);
        std::ranges::copy(colour, image.pixels.begin() + (row * image.width + c * width + column) * 3);
      }
  }
  return image;
}

/// Classes, one for each point of x, as tints over x.
files::Image classes_image(const SamplePicture& picture, const Values& x, std::span<const float> classes) {
  std::vector<std::uint16_t> numbers(classes.size());
  // Negative labels and NaN become 0, which is not tinted.
  std::ranges::transform(classes, numbers.begin(), [](float number) {
    return static_cast<std::uint16_t>(number > 0 ? std::min(number, 65535.0f) : 0.0f);
  });
  files::Image image = picture.greys(x.numbers);
  tint(image, picture.classes(numbers), 0.6f);
  return image;
}

/// How many classes a prediction chooses from for every number of the target; 0 if the target is not a class.
std::int64_t classes_of(const Values& target, const Values& prediction) {
  if (prediction.shape.rank() == 0 || target.numbers.empty()) return 0;
  const std::int64_t classes = prediction.shape[-1];
  return classes > 1 && prediction.shape.count() == target.shape.count() * classes ? classes : 0;
}

std::vector<float> chosen_classes(const Values& prediction, std::int64_t classes) {
  const std::size_t width = classes;
  std::vector<float> chosen(prediction.numbers.size() / width);
  for (std::size_t i = 0; i < chosen.size(); ++i)
    chosen[i] = static_cast<float>(metrics::predicted_class(std::span(prediction.numbers).subspan(i * width, width)));
  return chosen;
}

}  // namespace

std::vector<NamedImage> sample_images(const train::View& view, const std::vector<std::string>& channels) {
  std::vector<NamedImage> images;
  const auto x = view.fields.find("x"), y = view.fields.find("y");
  if (x == view.fields.end() || !is_spatial(x->second.shape)) return images;
  const Values& input = x->second;
  const SamplePicture picture(input.shape, channels, most_image_edge);
  images.push_back({"input", picture.colours(input.numbers)});
  if (y == view.fields.end()) return images;
  const Values &target = y->second, &prediction = view.prediction;
  const std::int64_t classes = classes_of(target, prediction);
  if (classes > 0 && target.shape.count() * input.shape[-1] == input.shape.count()) {
    images.push_back({"target", classes_image(picture, input, target.numbers)});
    images.push_back({"prediction", classes_image(picture, input, chosen_classes(prediction, classes))});
  } else if (is_spatial(target.shape) && target.shape == prediction.shape) {
    images.push_back({"target", channels_image(target, target)});
    images.push_back({"prediction", channels_image(prediction, target)});
  }
  return images;
}

std::string sample_table(const train::View& view, const std::vector<std::string>& classes) {
  const auto y = view.fields.find("y");
  if (y == view.fields.end() || y->second.shape.count() > most_numbers) return "";
  const Values &target = y->second, &prediction = view.prediction;
  std::string rows;
  if (const std::int64_t count = classes_of(target, prediction); count > 0) {
    const std::vector<float> chosen = chosen_classes(prediction, count);
    const auto name = [&](float number) {
      return number >= 0 ? metrics::column_name(classes, std::llround(number)) : "none";
    };
    for (std::size_t i = 0; i < chosen.size(); ++i)
      rows += fmt::format("| {} | {} | {} |\n", i, name(target.numbers[i]), name(chosen[i]));
  } else if (target.shape.count() == prediction.shape.count()) {
    for (std::size_t i = 0; i < target.numbers.size(); ++i)
      rows += fmt::format("| {} | {:.6g} | {:.6g} |\n", i, target.numbers[i], prediction.numbers[i]);
  }
  return rows.empty() ? "" : "| | target | prediction |\n|---|---|---|\n" + rows;
}

}  // namespace isobar::pictures
