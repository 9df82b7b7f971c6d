#include "isobar/bench/made_samples.hpp"

#include <bit>
#include <cmath>

#include "isobar/base/random.hpp"

namespace isobar::bench {

namespace {

// Random numbers that no compressor can predict.
std::uint64_t chance(std::int64_t sample, std::size_t position) { return Random(11, sample).bits(position); }

}  // namespace

float weather(std::int64_t sample, std::size_t position) {
  const auto at = static_cast<double>(position);
  const double smooth = std::sin(at * 1e-4 + static_cast<double>(sample)) * 20 + std::sin(at * 0.013) * 3;
  const double rough = static_cast<double>(chance(sample, position) % 16) / 64;
  return static_cast<float>(std::round((smooth + rough + 280) * 64) / 64);
}

float particles(std::int64_t sample, std::size_t position) {
  const std::uint64_t bits = chance(sample, position);
  const std::uint64_t few = std::countr_one(bits >> 8);  // each next value half as often
  return static_cast<float>(bits % 4 == 0 ? few * few : few / 2);
}

void write_samples(const Spec& format, const std::filesystem::path& to, const std::vector<datasets::Field>& fields,
                   std::int64_t first, std::int64_t count, MadeValue value) {
  const auto writer = datasets::make_writer(format, to, {fields, count, {}});
  std::vector<std::vector<float>> numbers;
  for (const datasets::Field& field : fields) numbers.emplace_back(field.shape.count());
  const std::vector<std::span<const float>> views(numbers.begin(), numbers.end());
  for (std::int64_t s = first; s < first + count; ++s) {
    for (std::vector<float>& field : numbers)
      for (std::size_t i = 0; i < field.size(); ++i) field[i] = value(s, i);
    writer->write(views);
  }
  writer->finish();
}

}  // namespace isobar::bench
