#include "isobar/bench/rank_contest.hpp"

#include <memory>

#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/bench/contestant.hpp"

namespace isobar::bench {
namespace {

using Words = std::vector<std::string>;

enum Who : std::size_t { exchanging, apart, one_joined, one_alone, peer_exchanging, peer_apart };

Words our_command(const RankContest& what, int ranks, const std::string& exchange) {
  Words words = what.launch(ranks);
  for (const std::string& word :
       {what.self, std::string("bench"), std::string("--serve"), std::string("--model"), what.model.str(),
        std::string("--batch"), std::to_string(what.batch), std::string("--threads"), std::to_string(what.threads),
        std::string("--exchange"), exchange})
    words.push_back(word);
  return words;
}

Words peer_command(const RankContest& what, const std::string& exchange) {
  return {"/usr/bin/python3", what.peers + "/torch_ranks.py", "--model",    what.model.str(),
          "--batch",          std::to_string(what.batch),     "--threads",  std::to_string(what.threads),
          "--ranks",          std::to_string(what.ranks),     "--exchange", exchange};
}

std::vector<Words> commands(const RankContest& what) {
  std::vector<Words> all{our_command(what, what.ranks, what.strategy.str()), our_command(what, what.ranks, "none"),
                         our_command(what, 1, what.strategy.str()), our_command(what, 1, "none")};
  if (!what.peers.empty()) {
    all.push_back(peer_command(what, "ddp"));
    all.push_back(peer_command(what, "none"));
  }
  return all;
}

Summary ratio(const std::vector<std::vector<double>>& seconds, Who above, Who below) {
  std::vector<double> ratios;
  for (std::size_t r = 0; r < seconds[above].size(); ++r) ratios.push_back(seconds[above][r] / seconds[below][r]);
  return summarize(ratios);
}

std::string interval(const Summary& s, int digits) {
  return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", s.median, digits, s.low, digits, s.high, digits);
}

}  // namespace

RankOutcome run_rank_contest(const RankContest& what, const std::function<void(const std::string&)>& note) {
  std::vector<std::unique_ptr<Contestant>> contestants;
  for (const Words& command : commands(what)) {
    note(join(command, " "));
    contestants.push_back(std::make_unique<Contestant>(command));
    contestants.back()->steps(2);  // warm-up
  }
  contestants[exchanging]->numbers("exchange");
  std::vector<std::vector<double>> seconds(contestants.size());
  for (int round = 0; round < what.rounds; ++round) {
    note(fmt::format("round {} of {}", round + 1, what.rounds));
    for (std::size_t c = 0; c < contestants.size(); ++c) seconds[c].push_back(contestants[c]->steps(what.steps)[0]);
  }
  RankOutcome outcome;
  const char* titles[] = {"{} ranks, {}", "{} ranks, nothing exchanged", "1 rank, {1}", "1 rank, nothing exchanged"};
  for (std::size_t c = 0; c < contestants.size(); ++c) {
    const std::string name = c < peer_exchanging ? fmt::format(fmt::runtime(titles[c]), what.ranks, what.strategy.str())
                                                 : fmt::format("{} ranks, {}", what.ranks, contestants[c]->name());
    outcome.contenders.push_back({name, summarize(seconds[c])});
  }
  outcome.efficiency = ratio(seconds, apart, exchanging);
  outcome.one_rank = ratio(seconds, one_joined, one_alone);
  if (!what.peers.empty()) {
    outcome.peer_efficiency = ratio(seconds, peer_apart, peer_exchanging);
    outcome.speedup = ratio(seconds, peer_exchanging, exchanging);
  }
  const std::vector<double> exchange = contestants[exchanging]->numbers("exchange");
  if (exchange.size() == 4) outcome.bytes_per_step = exchange[3] / (what.rounds * what.steps);
  return outcome;
}

std::string rank_table(const RankContest& what, const RankOutcome& outcome) {
  std::string text = fmt::format(
      "{}, batch {} and {} thread{} on every rank, {} rounds of {} steps: one step, median "
      "[95 % interval]\n",
      what.model.str(), what.batch, what.threads, what.threads == 1 ? "" : "s", what.rounds, what.steps);
  for (const auto& c : outcome.contenders) {
    const Summary ms{c.seconds.median * 1e3, c.seconds.low * 1e3, c.seconds.high * 1e3};
    text += fmt::format("  {:<44} {:>28} ms\n", c.name, interval(ms, 1));
  }
  text += fmt::format("  weak scaling: efficiency {}, where 1 loses nothing; a rank sends or reads {} in a step\n",
                      interval(outcome.efficiency, 3), human_bytes(outcome.bytes_per_step));
  text += fmt::format("  communication switched on with one rank: {} times the step without\n",
                      interval(outcome.one_rank, 3));
  if (outcome.speedup.median > 0)
    text += fmt::format("  {} times as fast as the peer with its exchange; the peer's efficiency is {}\n",
                        interval(outcome.speedup, 2), interval(outcome.peer_efficiency, 3));
  return text;
}

Record rank_record(const RankContest& what, const RankOutcome& outcome) {
  Record record{"ranks", what.model.str(), fmt::format("{} ranks, {}", what.ranks, what.strategy.str())};
  record.entries.push_back(
      {"isobar, " + outcome.contenders.at(exchanging).name, outcome.contenders.at(exchanging).seconds, what.rounds});
  if (outcome.contenders.size() > peer_exchanging)
    record.entries.push_back(
        {outcome.contenders[peer_exchanging].name, outcome.contenders[peer_exchanging].seconds, what.rounds});
  record.speedup = outcome.speedup;
  record.facts = {{"efficiency", outcome.efficiency.median},
                  {"one rank, with communication over without", outcome.one_rank.median},
                  {"bytes per step", outcome.bytes_per_step}};
  if (outcome.speedup.median > 0) {
    record.asked.speed = 2.5;
    record.facts.emplace_back("efficiency of the peer", outcome.peer_efficiency.median);
  }
  return record;
}

}  // namespace isobar::bench
