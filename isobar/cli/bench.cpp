// isobar bench: reading data beside the tools made for it, a training step beside PyTorch's, with memory and the bare
// primitives, several ranks beside the MPI library and PyTorch's, and a run that records itself beside one that does
// not; all alternating.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <omp.h>
#include <unistd.h>

#include "isobar/base/error.hpp"
#include "isobar/bench/machine.hpp"
#include "isobar/bench/reads.hpp"
#include "isobar/bench/side_by_side.hpp"
#include "isobar/cli/bench_ranks.hpp"
#include "isobar/cli/bench_sinks.hpp"
#include "isobar/cli/verb.hpp"

namespace isobar::cli {
namespace {

struct Options {
  std::vector<std::string> levels{"reads", "steps", "sums", "ranks", "sinks", "saves"};
  std::vector<std::string> models{"cosmoflow", "cosmoflow_sc18"};
  std::int64_t batch = 1;
  int rounds = 10, threads = 0;
  std::string peers = "bench/peers", record, scratch;
  RankOptions ranks;
  SinkOptions sinks;
  bool alone = false, serve = false;
};

// A folder that goes when it is no longer needed.
struct Scratch {
  explicit Scratch(const std::string& below)
      : path((below.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(below)) /
             fmt::format("isobar-bench-{}", getpid())) {
    std::error_code problem;
    std::filesystem::create_directories(path, problem);
    if (problem)
      fail("bench: '{}' cannot be made: {}; --scratch names another place", path.string(), problem.message());
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

// Shows what is going on, in one line that is gone afterwards.
void note(const std::string& now) {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\033[K{}", now);
}

void measure_reads(const Options& options, int threads, const std::string& peers, std::ofstream& record) {
  const Scratch scratch(options.scratch);
  const bench::ReadOptions what{scratch.path, peers, options.rounds, threads};
  const auto outcomes = bench::run_reads(what, note);
  note("");
  fmt::print("{}", bench::reads_table(outcomes, what));
  note("training from files and from memory");
  const bench::InputLoss loss = bench::measure_input_loss(options.models.at(0), what);
  note("");
  fmt::print("{}\n", bench::input_loss_line(loss));
  if (record.is_open()) record << bench::reads_json(outcomes, loss) << std::endl;
}

void measure_steps(const Options& options, int threads, const std::string& peers, std::ofstream& record) {
  for (const std::string& model : options.models) {
    const bench::SideBySide what{model, options.batch, options.rounds, threads, "/proc/self/exe", peers};
    const auto outcome = bench::run_side_by_side(what, [&](const std::string& now) { note(model + ": " + now); });
    note("");
    fmt::print("{}\n", bench::outcome_table(what, outcome));
    std::fflush(stdout);
    if (record.is_open()) record << bench::outcome_json(what, outcome) << std::endl;
  }
}

void run(const Options& options) {
  const int threads = options.threads > 0 ? options.threads : omp_get_max_threads();
  omp_set_num_threads(threads);
  if (options.serve && !options.sinks.serve.empty()) return serve_sinks(options.sinks, options.scratch);
  if (options.serve) return serve_ranks(options.models.at(0), options.batch, threads, options.ranks);
  if (options.levels == std::vector<std::string>{"sums"} &&
      measure_sums_here(options.ranks, options.rounds, options.record))
    return;
  const std::string peers = options.alone ? "" : options.peers;
  if (!peers.empty() && access((peers + "/torch_step.py").c_str(), R_OK) != 0)
    fail_usage("bench: no peers in '{}'; --peers names their folder, --alone does without", peers);
  std::ofstream record;
  if (!options.record.empty()) {
    record.open(options.record, std::ios::app);
    if (!record) fail("bench: '{}' cannot be written", options.record);
  }
  fmt::print("{}\n", bench::describe(bench::this_machine()));
  for (const std::string& level : options.levels) {
    if (level == "reads") measure_reads(options, threads, peers, record);
    if (level == "steps") measure_steps(options, threads, peers, record);
    if (level == "sums") launch_sums(options.ranks, options.rounds, options.record);
    if (level == "ranks") measure_ranks(options.ranks, options.rounds, peers, record, note);
    if (level == "sinks" || level == "saves") {
      const Scratch scratch(options.scratch);
      const auto measure = level == "sinks" ? measure_sinks : measure_saves;
      measure(options.sinks, options.rounds, threads, scratch.path, record, note);
    }
  }
}

void declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command
      .add_option(
          "LEVEL", options->levels,
          "reads: files beside the tools made for them; steps: a training step; sums: sums over ranks beside the "
          "MPI library's; ranks: steps on several ranks beside PyTorch's; sinks: what recording a run costs it; "
          "saves: what checkpoints cost it")
      ->check(CLI::IsMember({"reads", "steps", "sums", "ranks", "sinks", "saves"}).description(""))
      ->capture_default_str();
  command.add_option("--model", options->models, "networks to measure")->type_name("SPEC")->capture_default_str();
  command.add_option("--batch", options->batch, "samples per step")->check(CLI::PositiveNumber)->capture_default_str();
  command.add_option("--rounds", options->rounds, "times every contestant runs")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--threads", options->threads, "threads of every contestant (default: all cores)")
      ->check(CLI::Range(1, 4096));
  command.add_option("--peers", options->peers, "folder of the peer programs")->capture_default_str();
  command.add_flag("--alone", options->alone, "without peers");
  command.add_option("--record", options->record, "append one JSON line per network to this file");
  command.add_option("--scratch", options->scratch, "where reads, sinks and saves may make half a gigabyte of files")
      ->type_name("DIR");
  command.add_flag("--serve", options->serve, "be a contestant: answer 'step N' and 'memory' on standard input");
  add_rank_options(command, options->ranks);
  add_sink_options(command, options->sinks);
  command.callback([options] { run(*options); });
}

}  // namespace

extern const Verb bench_verb;
const Verb bench_verb{"bench", "measure reading and training, side by side with the best peers", declare};

}  // namespace isobar::cli
