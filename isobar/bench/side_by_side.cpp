#include "isobar/bench/side_by_side.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/bench/contestant.hpp"
#include "isobar/bench/machine.hpp"
#include "isobar/bench/training_step.hpp"

namespace isobar::bench {
namespace {

std::vector<std::vector<std::string>> peer_commands(const SideBySide& what) {
  std::vector<std::vector<std::string>> commands;
  if (what.peers.empty()) return commands;
  Spec model = what.model;
  std::int64_t size = 128;
  for (const auto& [key, value] : model.arguments()) {
    if (key != "size") fail_usage("bench: peers know the argument size of a network only, not '{}'", key);
    size = std::get<std::int64_t>(value.held);
  }
  for (const char* layout : {"plain", "channels_last"})
    commands.push_back({"/usr/bin/python3", what.peers + "/torch_step.py", "--model", model.name(), "--size",
                        std::to_string(size), "--batch", std::to_string(what.batch), "--threads",
                        std::to_string(what.threads), "--layout", layout});
  return commands;
}

std::string with_interval(const Summary& s, double scale, int digits) {
  return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", s.median * scale, digits, s.low * scale, digits, s.high * scale,
                     digits);
}

}  // namespace

Outcome run_side_by_side(const SideBySide& what, const std::function<void(const std::string&)>& note) {
  Outcome outcome;
  std::vector<std::unique_ptr<Contestant>> contestants;
  std::vector<std::vector<std::string>> commands{{what.self, "bench", "--serve", "--model", what.model.str(), "--batch",
                                                  std::to_string(what.batch), "--threads",
                                                  std::to_string(what.threads)}};
  for (auto& command : peer_commands(what)) commands.push_back(std::move(command));
  for (const auto& command : commands) {
    contestants.push_back(std::make_unique<Contestant>(command));
    note(contestants.back()->name() + ": warm-up");
    contestants.back()->steps(2);
  }
  std::vector<std::vector<double>> seconds(contestants.size());
  std::vector<double> bare;
  for (int round = 0; round < what.rounds; ++round) {
    note(fmt::format("round {} of {}", round + 1, what.rounds));
    for (std::size_t c = 0; c < contestants.size(); ++c) seconds[c].push_back(contestants[c]->steps(1)[0]);
    if (round % 3 == 0) bare.push_back(bare_primitives(what.model, what.batch, 3));
  }
  outcome.bare_seconds = summarize(bare).median;
  outcome.ours = {"isobar", summarize(seconds[0]), contestants[0]->peak_bytes()};
  outcome.over_bare = outcome.ours.seconds.median / outcome.bare_seconds;
  std::size_t best = 0;
  for (std::size_t c = 1; c < contestants.size(); ++c) {
    outcome.peers.push_back({contestants[c]->name(), summarize(seconds[c]), contestants[c]->peak_bytes()});
    if (best == 0 || outcome.peers[c - 1].seconds.median < outcome.peers[best - 1].seconds.median) best = c;
  }
  if (best > 0) {
    std::vector<double> ratios;
    for (std::size_t r = 0; r < seconds[0].size(); ++r) ratios.push_back(seconds[best][r] / seconds[0][r]);
    outcome.speedup = summarize(ratios);
    outcome.memory_ratio = outcome.ours.peak_bytes / outcome.peers[best - 1].peak_bytes;
  }
  return outcome;
}

std::string outcome_table(const SideBySide& what, const Outcome& outcome) {
  std::string text = fmt::format("{}, batch {}, {} threads, {} rounds: one training step, median [95 % interval]\n",
                                 what.model.str(), what.batch, what.threads, what.rounds);
  const auto row = [&](const Entry& e) {
    text += fmt::format("  {:<44} {:>28} ms   peak memory {:>8}\n", e.name, with_interval(e.seconds, 1e3, 0),
                        human_bytes(e.peak_bytes));
  };
  row(outcome.ours);
  for (const Entry& peer : outcome.peers) row(peer);
  text += fmt::format("  {:<44} {:>28.0f} ms   a step takes {:.2f} times that\n", "its bare oneDNN primitives",
                      outcome.bare_seconds * 1e3, outcome.over_bare);
  if (!outcome.peers.empty())
    text += fmt::format("  {} times as fast as the best peer, with {:.2f} of its memory\n",
                        with_interval(outcome.speedup, 1, 2), outcome.memory_ratio);
  return text;
}

std::string outcome_json(const SideBySide& what, const Outcome& outcome) {
  const auto entry = [](const Entry& e) {
    return nlohmann::json{{"name", e.name},
                          {"seconds", e.seconds.median},
                          {"low", e.seconds.low},
                          {"high", e.seconds.high},
                          {"peak_bytes", e.peak_bytes}};
  };
  nlohmann::json record{{"model", what.model.str()},      {"batch", what.batch},
                        {"threads", what.threads},        {"rounds", what.rounds},
                        {"ours", entry(outcome.ours)},    {"bare_seconds", outcome.bare_seconds},
                        {"over_bare", outcome.over_bare}, {"processor", this_machine().processor}};
  for (const Entry& peer : outcome.peers) record["peers"].push_back(entry(peer));
  if (!outcome.peers.empty()) {
    record["speedup"] = {
        {"median", outcome.speedup.median}, {"low", outcome.speedup.low}, {"high", outcome.speedup.high}};
    record["memory_ratio"] = outcome.memory_ratio;
  }
  return record.dump();
}

}  // namespace isobar::bench
