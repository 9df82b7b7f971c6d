// isobar bench networks: level 1, every network of the zoo compared with PyTorch: training step, forward pass and
// memory.
#include <fmt/format.h>

#include "isobar/bench/networks.hpp"
#include "isobar/cli/bench_level.hpp"

namespace isobar::cli {
namespace {

void bench_networks(const BenchOptions& options, RecordBook& book) {
  std::vector<bench::NetworkCase> cases;
  for (const std::string& model : options.models) cases.push_back({model, options.batch});
  if (cases.empty()) cases.assign(bench::network_cases().begin(), bench::network_cases().end());
  const machine::Peaks peaks = machine::measure_peaks();
  for (const bench::NetworkCase& one : cases) {
    const bench::NetworkContest contest{
        one.model, one.batch, options.effort(30, 60), options.threads, "/proc/self/exe", options.peers, peaks};
    auto records = bench::measure_network(contest, note);
    note("");
    for (bench::Record& record : records) book.add(std::move(record));
  }
}

}  // namespace

extern const BenchLevel networks_level{"networks", "training steps, forward passes and memory of the zoo's networks",
                                       bench_networks};

}  // namespace isobar::cli
