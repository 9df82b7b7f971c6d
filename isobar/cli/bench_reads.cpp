// isobar bench reads: reading files, compared with the tools made for them, and what reading costs a training step.
#include <cstdio>

#include <fmt/format.h>

#include "isobar/bench/reads.hpp"
#include "isobar/cli/bench_level.hpp"

namespace isobar::cli {
namespace {

void bench_reads(const BenchOptions& options, RecordBook& book) {
  const ScratchFolder scratch(options.scratch);
  const bench::ReadOptions what{scratch.path(), options.peers, options.rounds_or(10), options.threads};
  const auto outcomes = bench::run_reads(what, note);
  note("training from files and from memory");
  const std::string model = options.models.empty() ? "cosmoflow" : options.models.front();
  const bench::InputLoss loss = bench::measure_input_loss(model, what);
  note("");
  fmt::print("{}{}\n", bench::reads_table(outcomes, what), bench::input_loss_line(loss));
  std::fflush(stdout);
  for (bench::Record& record : bench::reads_records(outcomes, loss, what.rounds)) book.add(std::move(record), false);
}

}  // namespace

extern const BenchLevel reads_level{"reads", "reading files, compared with the tools made for them", bench_reads};

}  // namespace isobar::cli
