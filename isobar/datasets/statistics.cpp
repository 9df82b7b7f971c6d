#include "isobar/datasets/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

namespace isobar::datasets {
namespace {

// Enough for many threads to share, few enough for their sums to take little memory.
constexpr std::int64_t most_statistics_parts = 256;
// Numbers are summed relative to the first finite one of their block, so that a mean far from zero costs no precision.
constexpr std::size_t block_pixels = 4096;
constexpr std::size_t least_lanes = 64;

/// Sums of one block, one lane for each number of a few pixels: lanes are independent and run in parallel.
struct Lanes {
  explicit Lanes(std::size_t channels)
      : count(channels * ((least_lanes + channels - 1) / channels)),
        shift(count),
        low(count),
        high(count),
        sum(count),
        square(count),
        bad(count) {}

  void begin(std::span<const float> block, std::size_t channels) {
    for (std::size_t c = 0; c < channels; ++c) {
      std::size_t at = c;  // position of the channel's first finite number
      while (at < block.size() && !std::isfinite(block[at])) at += channels;
      const float value = at < block.size() ? block[at] : 0.0f;
      for (std::size_t lane = c; lane < count; lane += channels) shift[lane] = value;
    }
    std::ranges::fill(low, std::numeric_limits<float>::infinity());
    std::ranges::fill(high, -std::numeric_limits<float>::infinity());
    std::ranges::fill(sum, 0.0);
    std::ranges::fill(square, 0.0);
    std::ranges::fill(bad, 0.0);
  }

  void add(const float* values, std::size_t n) {
    constexpr float largest = std::numeric_limits<float>::max();
    for (std::size_t i = 0; i < n; ++i) {
      const float value = values[i];
      const bool finite = std::abs(value) <= largest;
      const double distance = finite ? double{value} - double{shift[i]} : 0.0;
      sum[i] += distance;
      square[i] += distance * distance;
      bad[i] += finite ? 0.0 : 1.0;
      const float at_low = finite ? value : low[i], at_high = finite ? value : high[i];
      low[i] = at_low < low[i] ? at_low : low[i];
      high[i] = at_high > high[i] ? at_high : high[i];
    }
  }

  std::size_t count;
  std::vector<float> shift, low, high;
  std::vector<double> sum, square, bad;
};

}  // namespace

double ChannelStatistics::deviation() const {
  return count > 0 ? std::sqrt(std::max(0.0, squares / static_cast<double>(count))) : 0;
}

double ChannelStatistics::square_mean() const {
  return count > 0 ? squares / static_cast<double>(count) + mean * mean : 0;
}

void ChannelStatistics::join(const ChannelStatistics& other) {
  skipped += other.skipped;
  if (other.count == 0) return;
  const auto n = static_cast<double>(count), m = static_cast<double>(other.count);
  const double apart = other.mean - mean;
  mean += apart * (m / (n + m));
  squares += other.squares + apart * apart * (n * m / (n + m));
  count += other.count;
  low = std::min(low, other.low);
  high = std::max(high, other.high);
}

void add_numbers(std::span<const float> numbers, std::vector<ChannelStatistics>& channels) {
  expects(!channels.empty() && numbers.size() % channels.size() == 0, "whole pixels");
  Lanes lanes(channels.size());
  for (std::size_t first = 0; first < numbers.size(); first += block_pixels * channels.size()) {
    const std::span<const float> block =
        numbers.subspan(first, std::min(block_pixels * channels.size(), numbers.size() - first));
    lanes.begin(block, channels.size());
    for (std::size_t i = 0; i < block.size(); i += lanes.count)
      lanes.add(block.data() + i, std::min(lanes.count, block.size() - i));
    const std::size_t pixels = block.size() / channels.size(), together = lanes.count / channels.size();
    for (std::size_t lane = 0; lane < std::min(lanes.count, block.size()); ++lane) {
      const std::size_t pixel = lane / channels.size();
      const auto met = static_cast<double>((pixels - pixel + together - 1) / together);
      const double count = met - lanes.bad[lane];
      ChannelStatistics part{.skipped = static_cast<std::int64_t>(lanes.bad[lane])};
      if (count > 0) {
        part.count = static_cast<std::int64_t>(count);
        part.mean = double{lanes.shift[lane]} + lanes.sum[lane] / count;
        part.squares = std::max(0.0, lanes.square[lane] - lanes.sum[lane] * lanes.sum[lane] / count);
        part.low = double{lanes.low[lane]};
        part.high = double{lanes.high[lane]};
      }
      channels[lane % channels.size()].join(part);
    }
  }
}

std::vector<ChannelStatistics> statistics_of(const Dataset& dataset, const StatisticsOptions& options) {
  const std::vector<Field> fields = dataset.fields();
  expects(options.field < fields.size(), "a field of the data set");
  const Shape& shape = fields[options.field].shape;
  if (shape.rank() < 1 || shape.count() == 0)
    fail("statistics: '{}' is {}; it has no channels", fields[options.field].name, shape.str());
  const std::int64_t size = dataset.size();
  const std::int64_t all = options.samples > 0 ? std::min(options.samples, size) : size;
  const std::int64_t parts = std::min(most_statistics_parts, all);
  const std::size_t channels = shape[-1];
  std::vector<std::vector<ChannelStatistics>> found(parts);

  std::mutex guard;
  std::int64_t next = 0, done = 0, failed = parts;
  std::exception_ptr error;
  const auto work = [&] {
    std::vector<std::vector<float>> memory;
    for (const Field& field : fields) memory.emplace_back(field.shape.count());
    const std::vector<std::span<float>> out(memory.begin(), memory.end());
    for (;;) {
      std::int64_t part;
      {
        const std::lock_guard lock(guard);
        if (error || next == parts) return;
        part = next++;
      }
      std::vector<ChannelStatistics> sums(channels);
      try {
        for (std::int64_t s = all * part / parts; s < all * (part + 1) / parts; ++s) {
          if (options.stop && *options.stop) fail("statistics: stopped");
          try {
            dataset.read(s, out);
          } catch (const Error& problem) {
            fail("reading {}: {}", dataset.where(s), problem.what());
          }
          std::vector<ChannelStatistics> sample(channels);
          add_numbers(out[options.field], sample);
          for (std::size_t c = 0; c < channels; ++c) sums[c].join(sample[c]);
          const std::lock_guard lock(guard);
          ++done;
          if (options.progress) options.progress(done, all);
        }
      } catch (...) {
        // Of several failures, the first in the order of the samples is reported.
        const std::lock_guard lock(guard);
        if (part < failed) error = std::current_exception(), failed = part;
        return;
      }
      found[part] = std::move(sums);
    }
  };
  {
    std::vector<std::jthread> others;
    for (int t = 1; t < options.threads; ++t) others.emplace_back(work);
    work();
  }
  if (error) std::rethrow_exception(error);
  std::vector<ChannelStatistics> result(channels);
  for (const auto& part : found)
    for (std::size_t c = 0; c < channels; ++c) result[c].join(part[c]);
  return result;
}

}  // namespace isobar::datasets
