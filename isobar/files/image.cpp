#include "isobar/files/image.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include "isobar/base/error.hpp"

namespace isobar::files {
namespace {

bool begins_with(std::span<const std::uint8_t> file, std::initializer_list<std::uint8_t> bytes) {
  return file.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), file.begin());
}

// The inputs [first, first + weights) that contribute to one output of an axis, and the weight of each.
struct Share {
  std::int64_t first;
  std::vector<float> weights;
};

std::vector<Share> shares(std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to), reach = std::max(1.0, scale);
  std::vector<Share> list;
  for (std::int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(centre - reach)));
    const auto last = std::min(from, static_cast<std::int64_t>(std::ceil(centre + reach)));
    Share share{first, {}};
    double sum = 0;
    for (std::int64_t j = first; j < last; ++j) {
      const double weight = std::max(0.0, 1 - std::abs(static_cast<double>(j) + 0.5 - centre) / reach);
      share.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& weight : share.weights) weight = static_cast<float>(weight / sum);
    list.push_back(std::move(share));
  }
  return list;
}

}  // namespace

bool is_image_name(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string ending(name.substr(dot));
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

void decode_image(std::span<const std::uint8_t> file, const ImageWish& wish, Image& image) {
  expects(wish.channels == 1 || wish.channels == 3, "one channel or three");
  if (begins_with(file, {0xFF, 0xD8})) decode_jpeg(file, wish, image);
  else if (begins_with(file, {0x89, 'P', 'N', 'G'})) decode_png(file, wish, image);
  else fail("is neither a JPEG nor a PNG file ({} bytes)", file.size());
}

void prepare_image(std::int64_t height, std::int64_t width, const ImageWish& wish, Image& image) {
  if (height < 1 || width < 1 || height > max_pixels / width)
    fail("is an image of {} x {} pixels; valid: at least 1 and at most {} in all", height, width, max_pixels);
  if ((wish.height > 0 && height != wish.height) || (wish.width > 0 && width != wish.width))
    fail("is an image of {} x {} pixels, the first one has {} x {}; size=[height, width] resizes them all", height,
         width, wish.height, wish.width);
  image.height = height;
  image.width = width;
  image.channels = wish.channels;
  image.pixels.resize(height * width * wish.channels);
}

void fit_image(const Image& image, std::int64_t height, std::int64_t width, std::span<float> out) {
  const std::size_t channels = image.channels;
  expects(out.size() == static_cast<std::size_t>(height * width) * channels, "memory of the image's size");
  if (image.height == height && image.width == width) {
    std::ranges::copy(image.pixels, out.begin());
    return;
  }
  const std::vector<Share> across = shares(image.width, width), down = shares(image.height, height);
  const std::size_t row = width * channels;
  thread_local std::vector<float> narrow;  // every row at its new width
  narrow.assign(image.height * row, 0.0f);
  for (std::int64_t y = 0; y < image.height; ++y) {
    const std::uint8_t* from = image.pixels.data() + static_cast<std::size_t>(y * image.width) * channels;
    float* to = narrow.data() + y * row;
    for (const Share& share : across) {
      const std::uint8_t* pixel = from + share.first * channels;
      for (const float weight : share.weights)
        for (std::size_t c = 0; c < channels; ++c) to[c] += weight * static_cast<float>(*pixel++);
      to += channels;
    }
  }
  std::ranges::fill(out, 0.0f);
  float* to = out.data();
  for (const Share& share : down) {
    const float* from = narrow.data() + share.first * row;
    for (const float weight : share.weights) {
      for (std::size_t i = 0; i < row; ++i) to[i] += weight * from[i];
      from += row;
    }
    to += row;
  }
}

void decode_fitted(std::span<const std::uint8_t> file, const ImageWish& wish, std::int64_t height, std::int64_t width,
                   std::span<float> out) {
  if (begins_with(file, {0xFF, 0xD8}) && decode_jpeg_floats(file, wish.channels, height, width, out)) return;
  thread_local Image image;
  decode_image(file, wish, image);
  fit_image(image, height, width, out);
}

}  // namespace isobar::files
