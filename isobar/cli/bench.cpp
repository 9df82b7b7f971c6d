// isobar bench: measures operators, networks and whole training runs, and the cost of files, ranks, sinks and
// checkpoints, side by side with the best peers; every row is kept as a line of JSON, to be shown on a page and
// compared with later ones.
#include <fstream>
#include <omp.h>
#include <unistd.h>

#include "isobar/base/error.hpp"
#include "isobar/base/row.hpp"
#include "isobar/bench/compare.hpp"
#include "isobar/cli/bench_level.hpp"
#include "isobar/machine/machine.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

struct CommandLine {
  std::vector<std::string> levels;
  BenchOptions bench{.peers = "bench/peers"};
  std::string record, html;
  std::vector<std::string> compare, from;
  double threshold = 5;  // per cent
  int threads = 0;
  bool alone = false, serve = false;
};

std::vector<std::string> level_names() {
  std::vector<std::string> all;
  for (const BenchLevel* level : bench_levels()) all.emplace_back(level->name);
  return all;
}

// Answers the questions of a contest until they end.
void serve(const CommandLine& line) {
  const BenchOptions& options = line.bench;
  if (!options.sinks.serve.empty()) return serve_sinks(options.sinks, options.scratch);
  if (!options.training_recipe.empty()) return serve_training(options.training_recipe);
  const std::string model = options.models.empty() ? "cosmoflow" : options.models.front();
  serve_ranks(model, options.batch, options.threads, options.ranks);
}

void write_page(const std::string& file, const std::vector<bench::Record>& records) {
  std::ofstream out(file);
  out << bench_page(records);
  if (!out.flush()) fail("bench: '{}' cannot be written", file);
  fmt::print("{} rows shown in {}\n", records.size(), file);
}

void compare(const CommandLine& line, const std::vector<bench::Record>& now) {
  const auto before = bench::read_records(line.compare.front());
  const bench::RecordComparison outcome = bench::compare_records(before, now, line.threshold / 100);
  fmt::print("{}", bench::comparison_text(outcome));
  if (const int slower = outcome.count(bench::Change::slower))
    fail("bench: {} row{} slower than in '{}', beyond the noise", slower, slower == 1 ? " is" : "s are",
         line.compare.front());
}

std::vector<bench::Record> measure(const CommandLine& line) {
  const BenchOptions& options = line.bench;
  for (const std::string& name : options.only) find(ops::operators(), name, "operator");
  if (!options.peers.empty() && access((options.peers + "/torch_step.py").c_str(), R_OK) != 0)
    fail_usage("bench: no peers in '{}'; --peers names their folder, --alone measures without them", options.peers);
  RecordBook book(line.record, options.threads);
  fmt::print("{}\n", machine::describe(machine::this_machine()));
  for (const std::string& name : line.levels) find(Table<BenchLevel>(bench_levels()), name, "level").run(options, book);
  return book.rows();
}

// The rows of existing files, if no measurement was requested.
std::vector<bench::Record> given(const CommandLine& line) {
  std::vector<bench::Record> all;
  std::vector<std::string> files = line.from;
  if (line.compare.size() > 1) files.push_back(line.compare[1]);
  for (const std::string& file : files)
    for (bench::Record& record : bench::read_records(file)) all.push_back(std::move(record));
  return all;
}

void run_levels(CommandLine line) {
  BenchOptions& options = line.bench;
  options.threads = line.threads > 0 ? line.threads : omp_get_max_threads();
  omp_set_num_threads(options.threads);
  if (line.alone) options.peers.clear();
  if (line.serve) return serve(line);
  if (line.levels.empty()) line.levels = level_names();
  if (line.levels == std::vector<std::string>{"sums"} &&
      measure_sums_here(options.ranks, options.rounds_or(10), line.record))
    return;
  const bool measures = line.from.empty() && line.compare.size() < 2;
  const std::vector<bench::Record> records = measures ? measure(line) : given(line);
  if (!line.html.empty()) write_page(line.html, records);
  if (!line.compare.empty()) compare(line, records);
}

void declare_records(CLI::App& command, CommandLine& line) {
  command.add_option("--record", line.record, "append one JSON line per row to this file")->type_name("FILE");
  command.add_option("--html", line.html, "show the rows as a page")->type_name("FILE");
  command.add_option("--from", line.from, "do not measure: use the rows of these files")->type_name("FILE");
  command
      .add_option("--compare", line.compare,
                  "compare the new rows, or the second file, with the first; exit code 1 when a row is slower "
                  "beyond the noise")
      ->type_name("OLD [NEW]")
      ->expected(1, 2);
  command.add_option("--threshold", line.threshold, "changes below this many per cent do not matter")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
}

void declare_bench(CLI::App& command) {
  auto line = std::make_shared<CommandLine>();
  BenchOptions& options = line->bench;
  std::string levels = "what to measure (default: all, about an hour)";
  for (const BenchLevel* level : bench_levels()) levels += fmt::format("; {}: {}", level->name, level->summary);
  command.add_option("LEVEL", line->levels, levels)->check(CLI::IsMember(level_names()).description(""));
  command.add_option("--model", options.models, "networks: which (default: those of the zoo)")->type_name("SPEC");
  command.add_option("--only", options.only, "operators: which (default: all)")->type_name("NAME");
  command.add_option("--batch", options.batch, "samples per step, with --model")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--rounds", options.rounds,
                  "times every contestant runs (default: 30 where a row's time allows, 10 for reads and ranks)")
      ->check(CLI::Range(1, 1000));
  command.add_option("--seconds", options.seconds, "time for the rounds of one row (default: 60 for a network)")
      ->check(CLI::PositiveNumber);
  command.add_option("--threads", line->threads, "threads of every contestant (default: all cores)")
      ->check(CLI::Range(1, 4096));
  command.add_option("--peers", options.peers, "folder of the peer programs")->capture_default_str();
  command.add_flag("--alone", line->alone, "without peers");
  declare_records(command, *line);
  command.add_option("--scratch", options.scratch, "folder for half a gigabyte of files, for reads and training")
      ->type_name("DIR");
  command.add_flag("--serve", line->serve, "be a contestant: answer 'step N' and 'memory' on standard input");
  add_rank_options(command, options.ranks);
  add_sink_options(command, options.sinks);
  command.add_option("--training", options.training_recipe, "with --serve: train this recipe, epoch by epoch")
      ->type_name("FILE");
  command.callback([line] { run_levels(*line); });
}

}  // namespace

extern const Verb bench_verb{"bench", "measure operators, networks and training, side by side with the best peers",
                             declare_bench};

}  // namespace isobar::cli
