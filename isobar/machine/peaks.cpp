#include "isobar/machine/peaks.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <omp.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/instructions.hpp"
#include "isobar/machine/machine.hpp"
#include "isobar/tensor/tensor.hpp"

namespace isobar::machine {
namespace {

// Does `rounds` multiply-adds in every chain of vectors. There are enough independent chains to fill two pipelines of
// latency four, and few enough to stay in registers. Begin and sum keep the compiler from dropping any of the calls.
template <class Vector, int chains>
float multiply_add(std::int64_t rounds, float begin) {
  const Vector factor = Vector{} + 0.999f, term = Vector{} + 0.001f;
  Vector chain[chains];
  for (int c = 0; c < chains; ++c) chain[c] = Vector{} + (begin + static_cast<float>(c));
  for (std::int64_t r = 0; r < rounds; ++r)
    for (int c = 0; c < chains; ++c) chain[c] = chain[c] * factor + term;
  Vector sum{};
  for (int c = 0; c < chains; ++c) sum += chain[c];
  float total = 0;
  for (std::size_t i = 0; i < sizeof(Vector) / sizeof(float); ++i) total += sum[i];
  return total;
}

using Sixteen [[gnu::vector_size(64)]] = float;
using Eight [[gnu::vector_size(32)]] = float;

struct Work {
  float sum;
  double flops;
};

Work multiply_add(std::int64_t rounds, float begin) {
  const auto chains = [](std::int64_t count, float first) {
    return instructions() == Instructions::v4 ? multiply_add<Sixteen, 16>(count, first)
                                              : multiply_add<Eight, 12>(count, first);
  };
  const int numbers = instructions() == Instructions::v4 ? 16 * 16 : 8 * 12;
  return {Dispatched<float(std::int64_t, float)>(chains)(rounds, begin), 2.0 * rounds * numbers};
}

// Processor time of the calling thread: this clock stops while another thread has its core, so that a busy machine is
// measured correctly too.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * time.tv_nsec;
}

// The fraction of time that threads can compute when there are more threads than processors.
double share_of_time(const Machine& machine, int sharers) {
  const double mine = omp_get_max_threads(), all = mine * sharers;
  double share = std::min({1.0, machine.usable_threads / mine, machine.hardware_threads / all});
  if (machine.quota > 0) share = std::min(share, machine.quota / all);
  return share;
}

double flops_now(double seconds) {
  constexpr std::int64_t rounds = 10'000;
  double rate = 0;
  const double begin = now_seconds();
#pragma omp parallel reduction(+ : rate)
  {
    double done = 0;
    float sum = 0;
    const double start = processor_seconds();
    do {
      const Work work = multiply_add(rounds, sum);
      sum = work.sum;
      done += work.flops;
    } while (now_seconds() - begin < seconds);
    const double spent = processor_seconds() - start;
    rate = sum > 0 && spent > 0 ? done / spent : 0;  // the sum is positive; the compiler does not know
  }
  return rate;
}

// The best of some tries: in the first, cores may not have reached full speed.
double measure_flops(double seconds) {
  constexpr int tries = 10;
  double best = 0;
  for (int i = 0; i < tries; ++i) best = std::max(best, flops_now(seconds / tries));
  return best;
}

// Three arrays that together are four times the last-level cache, unless memory is short.
std::int64_t array_floats(const Machine& machine, int sharers) {
  double cache = 0;
  for (const Cache& c : machine.caches) cache = std::max(cache, c.bytes * c.count);
  const double most = std::max(16e6, machine.available_bytes / 32 / sharers);
  return static_cast<std::int64_t>(std::clamp(4 * cache / 3 / sharers, 16e6, most) / sizeof(float));
}

double measure_bandwidth(double seconds, std::int64_t count) {
  const std::size_t bytes = count * sizeof(float);
  const Block blocks[3] = {Block(bytes), Block(bytes), Block(bytes)};
  float* const a = reinterpret_cast<float*>(blocks[0].data());
  float* const b = reinterpret_cast<float*>(blocks[1].data());
  float* const c = reinterpret_cast<float*>(blocks[2].data());
#pragma omp parallel for schedule(static)  // first touched by the thread that will use it, because of memory nodes
  for (std::int64_t i = 0; i < count; ++i) a[i] = 0, b[i] = 1, c[i] = 2;
  double best = 0;
  const double begin = now_seconds();
  do {
    double slowest = 0;
#pragma omp parallel reduction(max : slowest)
    {
      const double start = processor_seconds();
#pragma omp for simd schedule(static) nowait
      for (std::int64_t i = 0; i < count; ++i) a[i] = b[i] + 3.0f * c[i];
      slowest = processor_seconds() - start;
    }
    best = std::max(best, 3.0 * bytes / std::max(slowest, 1e-9));
  } while (now_seconds() - begin < seconds);
  return best;
}

}  // namespace

Peaks measure_peaks(double seconds, int sharers) {
  const Machine machine = this_machine();
  const double share = share_of_time(machine, sharers);
  return {share * measure_flops(seconds), share * measure_bandwidth(seconds, array_floats(machine, sharers)),
          omp_get_max_threads()};
}

}  // namespace isobar::machine
