#include "isobar/bench/networks.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "isobar/bench/bare_primitives.hpp"
#include "isobar/bench/contestant.hpp"
#include "isobar/bench/kernel_profile.hpp"
#include "isobar/zoo/arithmetic.hpp"
#include "isobar/zoo/network.hpp"

namespace isobar::bench {
namespace {

// A layout of the peer that is slower by this factor while warming up is not measured further: the best counts.
constexpr double hopeless = 1.3;

std::vector<std::vector<std::string>> commands(const NetworkContest& what, const graph::Graph& graph) {
  const std::string batch = std::to_string(what.batch), threads = std::to_string(what.threads);
  std::vector<std::vector<std::string>> all{
      {what.self, "bench", "--serve", "--model", what.model.str(), "--batch", batch, "--threads", threads}};
  if (what.peers.empty()) return all;
  std::vector<const char*> layouts{"plain"};
  if (graph.value(graph.find("x")).shape.rank() >= 4) layouts.push_back("channels_last");
  for (const char* layout : layouts)
    all.push_back({"/usr/bin/python3", what.peers + "/torch_step.py", "--model", what.model.str(), "--batch", batch,
                   "--threads", threads, "--layout", layout, "--parameters", std::to_string(graph.parameter_count())});
  return all;
}

// Ours and the peers worth measuring, warmed up.
std::vector<std::unique_ptr<Contestant>> start(const NetworkContest& what, const graph::Graph& graph,
                                               const Note& note) {
  std::vector<std::unique_ptr<Contestant>> all;
  std::vector<double> seconds;
  for (const auto& command : commands(what, graph)) {
    all.push_back(std::make_unique<Contestant>(command));
    note(fmt::format("{}: {} warms up", what.model.str(), all.back()->name()));
    seconds.push_back(all.back()->steps(2)[1]);
  }
  const double best = all.size() > 1 ? *std::min_element(seconds.begin() + 1, seconds.end()) : 0;
  for (std::size_t i = all.size(); i-- > 1;)
    if (seconds[i] > hopeless * best) all.erase(all.begin() + i);
  return all;
}

// When turns change, threads of the previous contestant still spin for some milliseconds, and the caches are full of
// its numbers, so a short run is preceded by one that is not counted.
constexpr double short_run = 0.25;

std::vector<Runner> runners(const std::vector<std::unique_ptr<Contestant>>& contestants, const std::string& question) {
  std::vector<Runner> all;
  for (const auto& c : contestants)
    all.push_back({c->name(), [&contestant = *c, question, last = 0.0]() mutable {
                     const int count = last < short_run ? 2 : 1;
                     return last = contestant.numbers(fmt::format("{} {}", question, count)).back();
                   }});
  return all;
}

double rested(BarePrimitives& bare) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return bare.run();
}

// The kernels that matter, and all others as one row.
std::vector<MeasuredKernel> shortened(std::vector<MeasuredKernel> profile) {
  constexpr std::size_t most = 40;
  if (profile.size() <= most) return profile;
  MeasuredKernel others{fmt::format("{} other kernels", profile.size() - most), "all", ""};
  for (std::size_t i = most; i < profile.size(); ++i) {
    others.seconds += profile[i].seconds;
    others.flops += profile[i].flops;
    others.bytes += profile[i].bytes;
  }
  profile.resize(most);
  profile.push_back(std::move(others));
  return profile;
}

}  // namespace

std::span<const NetworkCase> network_cases() {
  static const NetworkCase all[] = {{"cosmoflow", 1, 2.7},
                                    {"cosmoflow_sc18", 1, 2.5},
                                    {"tiramisu(height=192, width=288)", 1, 1.3},
                                    {"deeplabv3plus(height=192, width=288)", 1, 1.6},
                                    {"deepcam(height=192, width=288)", 1, 1.5},
                                    {"climate_detector(variant=b, height=384, width=384)", 1, 1.5},
                                    {"climate_detector(height=384, width=384)", 1},
                                    {"hep", 8, 2.2},
                                    {"cifar10_full", 100, 4},
                                    {"cifar10_quick", 100},
                                    {"lenet", 64},
                                    {"alexnet", 32, 2},
                                    {"caffenet", 32, 2},
                                    {"googlenet", 32, 2.5},
                                    {"resnet101", 4},
                                    {"gpt(layers=6, heads=6, width=384, context=256)", 8, 1.2},
                                    {"gpt2_small(context=256)", 1},
                                    {"lstm_classifier", 64}};
  return all;
}

Asked asked_of(const Spec& model, std::int64_t batch) {
  for (const NetworkCase& known : network_cases())
    if (known.speed > 0 && Spec(known.model) == model && known.batch == batch) return {known.speed, 0.7, 1.15};
  return {};
}

std::vector<Record> measure_network(const NetworkContest& what, const Note& note) {
  const graph::Graph graph = zoo::training_graph(*zoo::make_network(what.model), what.batch);
  const auto contestants = start(what, graph, note);
  Record training{"networks", what.model.str(), fmt::format("training step, batch {}", what.batch)};
  Record forward{"networks", what.model.str(), fmt::format("forward, batch {}", what.batch)};
  for (Record* record : {&training, &forward}) record->samples = static_cast<double>(what.batch);
  forward.flops = zoo::arithmetic(graph);

  note(what.model.str() + ": training steps");
  BarePrimitives bare(what.model, what.batch, what.peaks);
  std::vector<Runner> stepping = runners(contestants, "step");
  stepping.push_back({"bare", [&] { return rested(bare); }});
  Effort effort = what.effort;
  effort.warm_up = 0;  // start() did
  Rounds seconds = take_turns(stepping, effort);
  stepping.pop_back();
  seconds.pop_back();
  fill_record(training, stepping, seconds);
  training.bare_seconds = bare.seconds();
  training.asked = asked_of(what.model, what.batch);
  for (std::size_t i = 0; i < contestants.size(); ++i) training.entries[i].peak_bytes = contestants[i]->peak_bytes();
  training.profile = shortened(parse_profile(contestants[0]->ask("profile 3")));
  for (const MeasuredKernel& kernel : training.profile) training.flops += kernel.flops;

  note(what.model.str() + ": forward passes");
  const std::vector<Runner> passing = runners(contestants, "forward");
  effort.warm_up = 2;
  effort.seconds /= 3;
  fill_record(forward, passing, take_turns(passing, effort));
  return {training, forward};
}

}  // namespace isobar::bench
