// What `isobar bench` measures on several ranks: sums, compared with the MPI library's own, and training steps.
#include <cstdio>
#include <omp.h>

#include "isobar/base/error.hpp"
#include "isobar/bench/rank_contest.hpp"
#include "isobar/bench/serving.hpp"
#include "isobar/bench/sums.hpp"
#include "isobar/cli/bench_level.hpp"
#include "isobar/cli/launcher.hpp"
#include "isobar/cli/ranks.hpp"
#include "isobar/run/core_share.hpp"

namespace isobar::cli {

void add_rank_options(CLI::App& command, RankOptions& options) {
  command.add_option("--ranks", options.ranks, "sums, ranks: how many")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command.add_option("--rank-model", options.rank_model, "ranks: the network, batch 1 on every rank")
      ->type_name("SPEC")
      ->capture_default_str();
  command.add_option("--strategy", options.strategy, "ranks: how gradients are exchanged")
      ->type_name("SPEC")
      ->capture_default_str();
  command.add_option("--split-model", options.split_model, "splits: the network, one sample")
      ->type_name("SPEC")
      ->capture_default_str();
  command.add_option("--split", options.split, "splits: how it is cut over the ranks (default: by depth)")
      ->type_name("SPEC");
  command.add_option("--algorithm", options.algorithm, "sums: how they are made: auto, shared, ring, ...")
      ->type_name("SPEC")
      ->capture_default_str();
  command.add_option("--bytes", options.bytes, "sums: their sizes (default: 1 kB to 256 MB)")->delimiter(',');
  command.add_option("--launcher", options.launcher,
                     "sums, ranks: how to start ranks: 'srun -n {}' (default: mpiexec)");
  command.add_option("--exchange", options.exchange, "with --serve: how ranks exchange gradients, or none")
      ->type_name("SPEC");
}

void serve_ranks(const std::string& model, std::int64_t batch, int threads, const RankOptions& options) {
  on_all_ranks([&](comm_mpi::World& world) {
    comm::Comm& comm = world.comm();
    const run::CoreShare cores(comm, threads);
    cores.bind_compute();
    bench::Serving serving{.model = model, .batch = batch, .world = &comm};
    if (options.exchange != "none")
      serving.company = {&comm, options.exchange, options.split.empty() ? "none" : options.split};
    bench::serve_steps(serving, stdin, stdout);
  });
}

bool measure_sums_here(const RankOptions& options, int rounds, const std::string& record) {
  if (comm_mpi::launched().ranks == 1) return false;
  on_all_ranks([&](comm_mpi::World& world) {
    comm::Comm& comm = world.comm();
    const run::CoreShare cores(comm, 0);
    cores.bind_compute();
    bench::SumContest contest;
    contest.rounds = rounds;
    contest.options.algorithm = options.algorithm;
    if (!options.bytes.empty()) contest.bytes = options.bytes;
    for (const std::size_t bytes : contest.bytes)
      if (bytes < 4 || bytes > std::size_t{1} << 36)
        fail_usage("bench: sums of {} bytes: 4 to 68 GB are possible", bytes);
    const auto outcomes = bench::measure_sums(comm, contest);
    if (comm.rank() != 0) return;
    const std::string library(comm_mpi::library());
    fmt::print("{}", bench::sums_table(outcomes, comm, options.algorithm, library));
    RecordBook book(record, omp_get_max_threads());
    for (bench::Record& one : bench::sums_records(outcomes, comm.size(), options.algorithm, library, rounds))
      book.add(std::move(one), false);
  });
  return true;
}

namespace {

void launch_sums(const BenchOptions& all, RecordBook& book) {
  const RankOptions& options = all.ranks;
  std::vector<std::string> words = launch_words(options.ranks, options.launcher);
  for (const std::string& word : {this_program(), std::string("bench"), std::string("sums"), std::string("--rounds"),
                                  std::to_string(all.rounds_or(10)), std::string("--algorithm"), options.algorithm})
    words.push_back(word);
  for (const std::size_t bytes : options.bytes) words.push_back(fmt::format("--bytes={}", bytes));
  if (!book.file().empty()) words.push_back("--record=" + book.file().string());
  std::fflush(stdout);
  if (const int code = run_child({.words = words}).code)
    fail("bench: measuring sums on {} ranks ended with code {}", options.ranks, code);
  book.take_others();
}

void measure_ranks(const BenchOptions& all, RecordBook& book) {
  const RankOptions& options = all.ranks;
  bench::RankContest contest;
  contest.model = options.rank_model;
  contest.ranks = options.ranks;
  contest.rounds = all.rounds_or(10);
  contest.strategy = options.strategy;
  contest.self = this_program();
  contest.launch = [&](int ranks) { return launch_words(ranks, options.launcher); };
  contest.peers = all.peers;
  const auto outcome = bench::run_rank_contest(contest, note);
  note("");
  fmt::print("{}\n", bench::rank_table(contest, outcome));
  std::fflush(stdout);
  book.add(bench::rank_record(contest, outcome), false);
}

}  // namespace

extern const BenchLevel sums_level{"sums", "sums over ranks compared with the MPI library's", launch_sums};

extern const BenchLevel ranks_level{"ranks", "steps on several ranks compared with PyTorch's", measure_ranks};

}  // namespace isobar::cli
