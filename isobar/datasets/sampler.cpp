// The shuffle is a Feistel network on the next even number of bits, iterated until the result is below `count`. It is
// computed position by position: every rank would have to make a table of the order in every epoch, and hold two while
// the loader reads across the end of an epoch; without a table, resuming anywhere costs nothing.
#include "isobar/datasets/sampler.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "isobar/base/error.hpp"
#include "isobar/base/random.hpp"

namespace isobar::datasets {
namespace {

// Ten rounds leave no visible structure even in halves of one or two bits; a position costs well below a microsecond.
constexpr std::uint64_t rounds = 10;

std::uint64_t permute(const Random& key, int half_bits, std::uint64_t position) {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  std::uint64_t left = position >> half_bits, right = position & mask;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t mixed = left ^ (key.bits(round << 32 | right) & mask);
    left = right;
    right = mixed;
  }
  return left << half_bits | right;
}

}  // namespace

void Sampler::check() const {
  if (count < 1) fail_usage("sampler: the dataset has {} samples; at least 1 is needed", count);
  if (batch < 1) fail_usage("sampler: batch = {} is not a number of samples above 0", batch);
  if (batches() < 1)
    fail_usage("sampler: {} samples give no full batch of {}; use batch <= {} or keep the last batch", count, batch,
               count);
  if (count > (std::int64_t{1} << 62)) fail_usage("sampler: {} samples are more than can be shuffled", count);
}

std::int64_t Sampler::batches() const {
  const std::int64_t all = drop_last ? count / batch : (count + batch - 1) / batch;
  return most_batches > 0 ? std::min(all, most_batches) : all;
}

std::int64_t Sampler::sample(std::int64_t epoch, std::int64_t position) const {
  expects(position >= 0 && position < count, "a position in the epoch");
  if (!shuffle) return position;
  const int bits = std::bit_width(static_cast<std::uint64_t>(count - 1));
  const int half_bits = std::max(1, (bits + 1) / 2);
  const Random key = Random(seed, 0x5a).sub(epoch);
  std::uint64_t at = position;
  do at = permute(key, half_bits, at);
  while (at >= static_cast<std::uint64_t>(count));
  return at;
}

Sampler::Slice Sampler::slice(std::int64_t batch_index, int rank, int size) const {
  expects(batch_index >= 0 && batch_index < batches(), "a batch of the epoch");
  expects(rank >= 0 && rank < size, "a rank below the number of ranks");
  const std::int64_t begin = batch_index * batch;
  const std::int64_t length = std::min(batch, count - begin);
  if (full_slices)
    return {begin + std::min(length, rank * rows(size)), begin + std::min(length, (rank + 1) * rows(size))};
  return {begin + length * rank / size, begin + length * (rank + 1) / size};
}

std::vector<std::int64_t> Sampler::samples(std::int64_t epoch, std::int64_t batch_index, int rank, int size) const {
  const Slice mine = slice(batch_index, rank, size);
  std::vector<std::int64_t> list;
  for (std::int64_t position = mine.first; position < mine.last; ++position) list.push_back(sample(epoch, position));
  return list;
}

std::int64_t Course::length() const {
  if (last_epoch < 0) return std::numeric_limits<std::int64_t>::max();
  return (last_epoch - epoch) * sampler.batches() - step;
}

Course::Place Course::at(std::int64_t serial) const {
  const std::int64_t batches = sampler.batches(), position = epoch * batches + step + serial;
  return {position / batches, position % batches};
}

}  // namespace isobar::datasets
