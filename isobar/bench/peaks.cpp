#include "isobar/bench/peaks.hpp"

#include <algorithm>
#include <cstdint>
#include <omp.h>

#include "isobar/base/clock.hpp"
#include "isobar/bench/machine.hpp"
#include "isobar/tensor/tensor.hpp"

namespace isobar::bench {
namespace {

// Enough independent chains to fill two pipelines of latency four, and few enough to stay in registers.
#ifdef __AVX512F__
constexpr int vector_bytes = 64, chains = 16;
#else
constexpr int vector_bytes = 32, chains = 12;
#endif
using Vector [[gnu::vector_size(vector_bytes)]] = float;
constexpr int vector_floats = vector_bytes / static_cast<int>(sizeof(float));

// Does `rounds` multiply-adds in every chain. Begin and sum keep the compiler from leaving out a call or all of them.
float multiply_add(std::int64_t rounds, float begin) {
  const Vector factor = Vector{} + 0.999f, term = Vector{} + 0.001f;
  Vector chain[chains];
  for (int c = 0; c < chains; ++c) chain[c] = Vector{} + (begin + static_cast<float>(c));
  for (std::int64_t r = 0; r < rounds; ++r)
    for (int c = 0; c < chains; ++c) chain[c] = chain[c] * factor + term;
  Vector sum{};
  for (int c = 0; c < chains; ++c) sum += chain[c];
  float total = 0;
  for (int i = 0; i < vector_floats; ++i) total += sum[i];
  return total;
}

double flops_now(double seconds) {
  constexpr std::int64_t rounds = 10'000;
  double done = 0, sum = 0;
  const double begin = now_seconds();
#pragma omp parallel reduction(+ : done, sum)
  do {
    sum = multiply_add(rounds, static_cast<float>(sum));
    done += 2.0 * rounds * chains * vector_floats;
  } while (now_seconds() - begin < seconds);
  const double rate = done / (now_seconds() - begin);
  return sum > 0 ? rate : 0;  // the sum is positive; the compiler does not know
}

// Somebody else may be at work for a moment: the best of some tries is what the machine can do.
double measure_flops(double seconds) {
  constexpr int tries = 10;
  double best = 0;
  for (int i = 0; i < tries; ++i) best = std::max(best, flops_now(seconds / tries));
  return best;
}

// Three arrays four times the last-level cache together, as long as memory is no concern.
std::int64_t array_floats(int sharers) {
  const Machine machine = this_machine();
  double cache = 0;
  for (const Cache& c : machine.caches) cache = std::max(cache, c.bytes * c.count);
  const double most = std::max(16e6, machine.available_bytes / 32 / sharers);
  return static_cast<std::int64_t>(std::clamp(4 * cache / 3 / sharers, 16e6, most) / sizeof(float));
}

double measure_bandwidth(double seconds, int sharers) {
  const std::int64_t count = array_floats(sharers);
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
  const Block blocks[3] = {Block(bytes), Block(bytes), Block(bytes)};
  float* const a = reinterpret_cast<float*>(blocks[0].data());
  float* const b = reinterpret_cast<float*>(blocks[1].data());
  float* const c = reinterpret_cast<float*>(blocks[2].data());
#pragma omp parallel for schedule(static)  // touched by the thread that will use it: memory nodes
  for (std::int64_t i = 0; i < count; ++i) a[i] = 0, b[i] = 1, c[i] = 2;
  double best = 0;
  const double begin = now_seconds();
  do {
    const double start = now_seconds();
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < count; ++i) a[i] = b[i] + 3.0f * c[i];
    best = std::max(best, 3.0 * static_cast<double>(bytes) / (now_seconds() - start));
  } while (now_seconds() - begin < seconds);
  return best;
}

}  // namespace

Peaks measure_peaks(double seconds, int sharers) {
  return {measure_flops(seconds), measure_bandwidth(seconds, sharers), omp_get_max_threads()};
}

}  // namespace isobar::bench
