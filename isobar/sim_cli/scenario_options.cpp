#include "isobar/sim_cli/scenario_options.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/forecast/stretches.hpp"
#include "isobar/forecast/workload_of_plan.hpp"
#include "isobar/forecast/workload_of_run.hpp"
#include "isobar/optim/optimizer.hpp"

namespace isobar::sim_cli {
namespace {

sim::Input input_of(const std::string& name) {
  return name == "file-system"    ? sim::Input::file_system
         : name == "burst-buffer" ? sim::Input::burst_buffer
         : name == "node-local"   ? sim::Input::node_local
                                  : sim::Input::none;
}

// Of every part of the network; a trace is that of a whole one.
std::vector<sim::Workload> read_workloads(const ScenarioOptions& options, const sim::Platform& platform, int on_node) {
  const double node = options.node_gflops > 0 ? options.node_gflops * 1e9 : platform.node.flops_per_second;
  const double rank = node / on_node;
  if (!options.model.empty()) {
    const forecast::RankRate rate{rank, platform.node.memory_bytes_per_second,
                                  make(optim::optimizers(), Spec(options.optimizer), "optimizer")->slots()};
    return forecast::workloads_of_parts(options.model, options.split, options.batch > 0 ? options.batch : 1, rate,
                                        options.sample_gflops * 1e9);
  }
  sim::Workload workload = forecast::workload_of_run(options.trace);
  if (options.batch > 0 && options.batch != workload.batch) workload = forecast::with_batch(workload, options.batch);
  if (!options.as_measured) workload = forecast::on_another_rank(workload, rank, options.trace_gflops * 1e9);
  return {workload};
}

sim::Scenario read_scenario(const ScenarioOptions& options) {
  if (options.model.empty() && options.trace.empty())
    fail_usage("nothing to train: give --model 'cosmoflow(size=128)', or --trace RUN of a traced run");
  sim::Scenario scenario;
  scenario.platform = sim::read_platform(options.platform);
  if (options.node_gflops > 0) scenario.platform.node.flops_per_second = options.node_gflops * 1e9;
  scenario.ranks_per_node = options.ranks_per_node;
  std::vector<sim::Workload> parts = read_workloads(options, scenario.platform, scenario.on_node());
  scenario.workload = parts[0];
  scenario.further_parts.assign(parts.begin() + 1, parts.end());
  // A rank of a replica reads its part of each sample.
  const double sample = options.sample_mb * 1e6 / scenario.ways();
  if (sample > 0)
    scenario.change_parts([&](sim::Workload part) {
      part.sample_bytes = sample;
      return part;
    });
  scenario.input = input_of(options.input);
  scenario.steps = options.steps;
  scenario.seed = options.seed;
  scenario.detail = options.flows ? sim::Detail::flows : options.rounds ? sim::Detail::rounds : sim::Detail::automatic;
  return scenario;
}

}  // namespace

void add_ranks_option(CLI::App& command, std::vector<int>& ranks) {
  command.add_option("--ranks", ranks, "numbers of ranks, such as 1,64,1024,8192")
      ->delimiter(',')
      ->type_name("N,...")
      ->check(CLI::Range(1, 1 << 24).description(""))
      ->required();
}

void add_scenario_options(CLI::App& command, ScenarioOptions& options) {
  auto* model =
      command.add_option("--model", options.model, "a network of the zoo: 'cosmoflow(size=128)'")->type_name("SPEC");
  auto* trace =
      command.add_option("--trace", options.trace, "a traced run instead: its folder, or the folder trace/ in it")
          ->type_name("RUN")
          ->excludes(model);
  command
      .add_option("--split", options.split, "how the network is cut over the ranks of a replica: 'spatial(depth=4)'")
      ->type_name("SPEC")
      ->needs(model)
      ->capture_default_str();
  command.add_option("--platform", options.platform, "a name of 'isobar-sim platforms', or a TOML file")
      ->type_name("NAME|FILE")
      ->required();
  command
      .add_option("--node-gflops", options.node_gflops,
                  "what a node of the platform sustains in training (default: what its file says)")
      ->type_name("GF/s")
      ->check(CLI::PositiveNumber);
  auto* recorded = command
                       .add_option("--trace-gflops", options.trace_gflops,
                                   "what a rank of the traced run sustained (default: its work over its time)")
                       ->type_name("GF/s")
                       ->check(CLI::PositiveNumber)
                       ->needs(trace);
  command.add_flag("--as-measured", options.as_measured, "keep the times of the trace: its machine is the platform")
      ->needs(trace)
      ->excludes(recorded);
  command
      .add_option("--batch", options.batch, "samples of a rank, or of a replica, in a step (default: 1, or as traced)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 24).description(""));
  command.add_option("--sample-gflops", options.sample_gflops, "work per sample, if a paper counts it differently")
      ->type_name("GF")
      ->check(CLI::PositiveNumber)
      ->needs(model);
  command.add_option("--sample-mb", options.sample_mb, "bytes read for a sample (default: its input as float32)")
      ->type_name("MB")
      ->check(CLI::PositiveNumber);
  command.add_option("--optimizer", options.optimizer, "whose updates take time")
      ->type_name("SPEC")
      ->capture_default_str();
  command.add_option("--ranks-per-node", options.ranks_per_node, "(default: what the platform says)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""));
  command.add_option("--input", options.input, "where samples are read from")
      ->check(CLI::IsMember({"none", "file-system", "burst-buffer", "node-local"})
                  .description("none|file-system|burst-buffer|node-local"))
      ->capture_default_str();
  command.add_option("--steps", options.steps, "training steps to simulate, after two that do not count")
      ->type_name("N")
      ->check(CLI::Range(1, 100000).description(""))
      ->capture_default_str();
  command.add_option("--seed", options.seed, "of the noise")->type_name("N")->capture_default_str();
  auto* flows = command.add_flag("--flows", options.flows, "simulate every message as a flow, for any number of ranks");
  command.add_flag("--rounds", options.rounds, "cost every round of a schedule once, for any number of ranks")
      ->excludes(flows);
  command.add_flag("--quiet", options.quiet, "show no progress");
  command
      .add_option(
          "--calibrate", options.calibrate,
          "measured runs of the recipe on several numbers of ranks, as 'isobar scale' leaves them: the platform "
          "is fitted to them, and the forecast's error is stated")
      ->type_name("RUN...");
}

void add_out_options(CLI::App& command, ScenarioOptions& options, const std::string& meaning) {
  auto* out = command.add_option("--out", options.out, meaning)->type_name("FOLDER");
  command.add_flag("--resume", options.resume, "continue with the results already in the folder")->needs(out);
}

Calibrated read_calibrated(ScenarioOptions options) {
  if (options.calibrate.empty()) return {.base = read_scenario(options)};
  const std::vector<std::filesystem::path> folders(options.calibrate.begin(), options.calibrate.end());
  const std::vector<forecast::MeasuredRun> measured = forecast::read_measured(folders);
  if (options.model.empty() && options.trace.empty())
    options.trace = std::ranges::min_element(measured, {}, &forecast::MeasuredRun::ranks)->name;
  if (!options.trace.empty() && options.trace_gflops == 0) options.as_measured = true;
  Calibrated result{.base = read_scenario(options)};
  sim::Scenario few = result.base;  // a fit needs many simulations with few ranks; a few steps of each are enough
  few.steps = std::min(few.steps, 8);
  if (!options.quiet) fmt::print(stderr, "fitting the platform to {} runs\n", measured.size());
  const forecast::Calibration fit =
      forecast::calibrate(measured, forecast::simulated_step(few, [](const sim::Scenario& scenario) {
                            if (stop_requested()) throw forecast::Stopped("stopped while the platform was fitted");
                            return forecast::simulate_scenario(scenario, false);
                          }));
  result.base = forecast::scaled(result.base, fit.factors);
  result.base.workload.origin += "; fitted to measured runs";
  result.error = fit.error;
  result.text = fit.text();
  return result;
}

forecast::ScenarioRunner make_runner(const ScenarioOptions& options, bool losses) {
  return forecast::ScenarioRunner({.folder = options.out,
                                   .resume = options.resume,
                                   .losses = losses,
                                   .progress = options.quiet ? nullptr : stderr,
                                   .stop = &stop_requested()});
}

void write_table(const ScenarioOptions& options, const std::string& name, const std::string& text,
                 const std::string& csv) {
  if (options.out.empty()) return;
  const std::filesystem::path folder = options.out;
  disk::write_text(folder / (name + ".txt"), text);
  disk::write_text(folder / (name + ".csv"), csv);
  fmt::print("written to {0}: {1}.txt, {1}.csv\n", options.out, name);
}

std::vector<Spec> specs_of(const std::vector<std::string>& texts) {
  std::vector<Spec> specs;
  for (const std::string& text : texts) specs.emplace_back(text);
  return specs;
}

}  // namespace isobar::sim_cli
