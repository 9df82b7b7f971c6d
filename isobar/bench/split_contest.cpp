#include "isobar/bench/split_contest.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/bench/contestant.hpp"

namespace isobar::bench {
namespace {

std::vector<std::string> command(const SplitContest& what, int ranks, int threads,
                                 const std::vector<std::string>& more) {
  std::vector<std::string> words = what.launch(ranks);
  for (const std::string& word :
       {what.self, std::string("bench"), std::string("--serve"), std::string("--model"), what.model.str(),
        std::string("--batch"), std::string("1"), std::string("--threads"), std::to_string(threads)})
    words.push_back(word);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string interval(const Summary& s, double scale, int digits) {
  return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", scale * s.median, digits, scale * s.low, digits, scale * s.high,
                     digits);
}

}  // namespace

SplitOutcome run_split_contest(const SplitContest& what, const std::function<void(const std::string&)>& note) {
  Contestant whole(command(what, 1, what.ranks, {"--exchange", "none"}));
  Contestant cut(command(what, what.ranks, 1, {"--exchange", "sync", "--split", what.split.str()}));
  whole.steps(2), cut.steps(2);  // warm-up
  cut.numbers("messages");
  std::vector<double> of_whole, of_cut, ratios, hidden;
  double bytes = 0;
  for (int round = 0; round < what.rounds; ++round) {
    note(fmt::format("round {} of {}", round + 1, what.rounds));
    const std::vector<double> each = whole.steps(what.steps);
    of_whole.push_back(std::accumulate(each.begin(), each.end(), 0.0) / static_cast<double>(each.size()));
    of_cut.push_back(cut.steps(what.steps)[0]);
    ratios.push_back(of_cut.back() / of_whole.back());
    const std::vector<double> messages = cut.numbers("messages");
    hidden.push_back(messages.at(1) > 0 ? 1 - std::min(1.0, messages[0] / messages[1]) : 1);
    bytes += messages.at(3);
  }
  return {summarize(of_whole), summarize(of_cut), summarize(ratios), summarize(hidden),
          bytes / (what.rounds * what.steps)};
}

std::string split_table(const SplitContest& what, const SplitOutcome& outcome) {
  std::string text = fmt::format("{}, one sample, {} rounds of {} steps: one step, median [95 % interval]\n",
                                 what.model.str(), what.rounds, what.steps);
  const auto line = [&](const std::string& name, const Summary& seconds) {
    text += fmt::format("  {:<44} {:>28} ms\n", name, interval(seconds, 1e3, 1));
  };
  line(fmt::format("1 rank, {} threads", what.ranks), outcome.whole);
  line(fmt::format("{} ranks with 1 thread each, {}", what.ranks, what.split.str()), outcome.cut);
  text += fmt::format("  cut over ranks it takes {} times as long\n", interval(outcome.ratio, 1, 3));
  text += fmt::format("  the first rank sends {} in a step; {} % of the time of its messages are hidden\n",
                      human_bytes(outcome.bytes_per_step), interval(outcome.hidden, 100, 0));
  return text;
}

Record split_record(const SplitContest& what, const SplitOutcome& outcome) {
  Record record{"splits", what.model.str(), fmt::format("{} ranks, {}", what.ranks, what.split.str())};
  record.entries.push_back({fmt::format("isobar, {} ranks, 1 thread each", what.ranks), outcome.cut, what.rounds});
  record.entries.push_back({fmt::format("isobar, 1 rank, {} threads", what.ranks), outcome.whole, what.rounds});
  record.facts = {{"cut over whole", outcome.ratio.median},
                  {"share of messages hidden", outcome.hidden.median},
                  {"bytes per step", outcome.bytes_per_step}};
  return record;
}

}  // namespace isobar::bench
