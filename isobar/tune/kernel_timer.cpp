#include "isobar/tune/kernel_timer.hpp"

#include <algorithm>

#include "isobar/base/clock.hpp"
#include "isobar/tensor/engine.hpp"

namespace isobar::tune {
namespace {

double middle(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

void run_all(const ops::Moment& moment, std::span<const ops::Kernel> kernels,
             const std::vector<std::vector<dnnl::memory>>& memories) {
  for (std::size_t k = 0; k < kernels.size(); ++k) kernels[k].run(moment, memories[k]);
}

}  // namespace

KernelTimer::KernelTimer(const TimingCare& care) : care_(care) { moment_.stream = dnnl::stream(cpu_engine()); }

// Ordinary numbers: zeros, denormals and growing numbers would be slower or faster than what a network computes.
void* KernelTimer::numbers(Key key, std::size_t bytes) {
  Block& block = blocks_[key];
  if (block.size() < bytes) {
    block = Block(bytes);
    auto* const first = reinterpret_cast<float*>(block.data());
    for (std::size_t i = 0; i < bytes / sizeof(float); ++i)
      first[i] = static_cast<float>(static_cast<int>(i * 7919 % 201) - 100) * 0.01f;
  }
  return block.data();
}

dnnl::memory KernelTimer::memory(const ops::Port& port) {
  return {port.layout, cpu_engine(), numbers({port.slot.kind, port.slot.index}, port.layout.get_size())};
}

template <class Run>
double KernelTimer::timed(const Run& run) {
  const double begin = now_seconds();
  run();
  moment_.stream.wait();
  return now_seconds() - begin;
}

template <class Run>
double KernelTimer::median(const Run& run, double hopeless) {
  ++measurements_;
  if (timed(run) > hopeless) return std::numeric_limits<double>::infinity();
  std::vector<double> seconds;
  double spent = 0;
  while (std::ssize(seconds) < care_.runs && (seconds.size() < 2 || spent < care_.seconds)) {
    seconds.push_back(timed(run));
    spent += seconds.back();
  }
  return middle(std::move(seconds));
}

std::vector<std::vector<dnnl::memory>> KernelTimer::bind(std::span<const ops::Kernel> kernels) {
  std::vector<std::vector<dnnl::memory>> memories;
  for (int pass = 0; pass < 2; ++pass) {  // the first pass makes all blocks large enough
    memories.clear();
    for (const ops::Kernel& kernel : kernels) {
      memories.emplace_back();
      for (const auto* ports : {&kernel.reads, &kernel.writes})
        for (const ops::Port& port : *ports) memories.back().push_back(memory(port));
    }
  }
  return memories;
}

double KernelTimer::time(std::span<const ops::Kernel> kernels, double hopeless) {
  const auto memories = bind(kernels);
  return median([&] { run_all(moment_, kernels, memories); }, hopeless);
}

std::pair<double, double> KernelTimer::contest(std::span<const ops::Kernel> one, std::span<const ops::Kernel> other) {
  bind(one);  // allocates the blocks; `other` may need larger ones
  const auto memories_of_other = bind(other), memories_of_one = bind(one);
  const auto run_one = [&] { run_all(moment_, one, memories_of_one); };
  const auto run_other = [&] { run_all(moment_, other, memories_of_other); };
  timed(run_one), timed(run_other);
  std::vector<double> ones, others;
  for (double spent = 0;
       ones.size() < 3 || (ones.size() < 2 * static_cast<std::size_t>(care_.runs) && spent < 2 * care_.seconds);
       spent += ones.back() + others.back()) {
    ones.push_back(timed(run_one));
    others.push_back(timed(run_other));
  }
  ++measurements_;
  return {middle(std::move(ones)), middle(std::move(others))};
}

double KernelTimer::relayout(const Layout& from, const Layout& to) {
  if (from == to) return 0;
  const dnnl::memory source(from, cpu_engine(), numbers({ops::Slot::Kind::x, 1}, from.get_size()));
  const dnnl::memory target(to, cpu_engine(), numbers({ops::Slot::Kind::dx, 1}, to.get_size()));
  const dnnl::reorder copy(source, target);
  return median(
      [&] {
        copy.execute(moment_.stream, {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}});
      },
      std::numeric_limits<double>::infinity());
}

}  // namespace isobar::tune
