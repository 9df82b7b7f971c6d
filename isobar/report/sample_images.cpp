#include "isobar/report/sample_images.hpp"

#include <cmath>

#include <fmt/format.h>

#include "isobar/report/plane.hpp"
#include "isobar/train/class_targets.hpp"
#include "isobar/train/metric.hpp"

namespace isobar::report {
namespace {

constexpr std::int64_t most_channels = 4, most_numbers = 16, gap = 4;

using train::Values;
using Range = std::pair<float, float>;

bool is_spatial(const Shape& shape) { return shape.rank() == 3 || shape.rank() == 4; }

/// Axes of space alone: one place, one number or class.
Shape without_channels(const Shape& shape) { return Shape({shape.extents().begin(), shape.extents().end() - 1}); }

Colour colour_in(const Range& range, float value) {
  const float width = range.second > range.first ? range.second - range.first : 1.0f;
  return colour_at((value - range.first) / width);
}

files::Image blank(const PlanePanel& panel, std::int64_t panels) {
  files::Image image;
  image.height = panel.height;
  image.width = panels * (panel.width + gap) - gap;
  image.pixels.assign(static_cast<std::size_t>(image.height * image.width * 3), 255);
  return image;
}

/// The channels of `values`, each in the colours that `scale` has there.
files::Image channels_image(const Values& values, const Values& scale) {
  const Planes planes(values.shape, true);
  const std::int64_t channels = std::min(planes.channels, most_channels);
  const PlanePanel panel(planes.height, planes.width);
  files::Image image = blank(panel, channels);
  for (std::int64_t c = 0; c < channels; ++c) {
    const Range range = range_of(planes.plane(scale.numbers, c));
    const Plane plane = planes.plane(values.numbers, c);
    panel.draw(image, 0, c * (panel.width + gap), plane,
               [&](std::int64_t row, std::int64_t column) { return colour_in(range, plane.at(row, column)); });
  }
  return image;
}

/// Classes, one for each place of x, over its first channel.
files::Image classes_image(const Values& x, std::span<const float> classes) {
  const Planes under(x.shape, true), over(without_channels(x.shape), false);
  const Plane ground = under.plane(x.numbers, 0), labels = over.plane(classes, 0);
  const Range range = range_of(ground);
  const PlanePanel panel(under.height, under.width);
  files::Image image = blank(panel, 1);
  panel.draw(image, 0, 0, ground, [&](std::int64_t row, std::int64_t column) {
    return tinted(colour_in(range, ground.at(row, column)), labels.at(row, column));
  });
  return image;
}

/// How many classes a prediction chooses from at every number of the target; 0 when the target is no class.
std::int64_t classes_of(const Values& target, const Values& prediction) {
  if (prediction.shape.rank() == 0 || target.numbers.empty()) return 0;
  const std::int64_t classes = prediction.shape[-1];
  return classes > 1 && prediction.shape.count() == target.shape.count() * classes ? classes : 0;
}

std::vector<float> chosen_classes(const Values& prediction, std::int64_t classes) {
  const auto width = static_cast<std::size_t>(classes);
  std::vector<float> chosen(prediction.numbers.size() / width);
  for (std::size_t i = 0; i < chosen.size(); ++i)
    chosen[i] = static_cast<float>(train::predicted_class(std::span(prediction.numbers).subspan(i * width, width)));
  return chosen;
}

}  // namespace

std::vector<NamedImage> sample_images(const train::View& view) {
  std::vector<NamedImage> images;
  const auto x = view.fields.find("x"), y = view.fields.find("y");
  if (x == view.fields.end() || !is_spatial(x->second.shape)) return images;
  const Values& input = x->second;
  images.push_back({"input", channels_image(input, input)});
  if (y == view.fields.end()) return images;
  const Values &target = y->second, &prediction = view.prediction;
  const std::int64_t classes = classes_of(target, prediction);
  if (classes > 0 && target.shape.count() == without_channels(input.shape).count()) {
    images.push_back({"target", classes_image(input, target.numbers)});
    images.push_back({"prediction", classes_image(input, chosen_classes(prediction, classes))});
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
      return number >= 0 ? train::column_name(classes, static_cast<std::size_t>(std::llround(number))) : "none";
    };
    for (std::size_t i = 0; i < chosen.size(); ++i)
      rows += fmt::format("| {} | {} | {} |\n", i, name(target.numbers[i]), name(chosen[i]));
  } else if (target.shape.count() == prediction.shape.count()) {
    for (std::size_t i = 0; i < target.numbers.size(); ++i)
      rows += fmt::format("| {} | {:.6g} | {:.6g} |\n", i, target.numbers[i], prediction.numbers[i]);
  }
  return rows.empty() ? "" : "| | target | prediction |\n|---|---|---|\n" + rows;
}

}  // namespace isobar::report
