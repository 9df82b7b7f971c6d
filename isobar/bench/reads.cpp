#include "isobar/bench/reads.hpp"

#include <fmt/format.h>

#include "isobar/base/text.hpp"

namespace isobar::bench {

std::vector<ReadOutcome> run_reads(const ReadOptions& options, const std::function<void(const std::string&)>& note) {
  note("making files");
  std::vector<ReadOutcome> outcomes;
  for (const ReadContest& contest : read_contests(options)) {
    ReadOutcome outcome{contest.what, contest.ours, contest.peer, contest.asked, contest.bytes, {}, {}, {}};
    contest.run_ours();  // brings files into the page cache and touches memory
    contest.run_peer();
    std::vector<double> ours, peer, ratios;
    for (int round = 0; round < options.rounds; ++round) {
      note(fmt::format("{}: round {} of {}", contest.what, round + 1, options.rounds));
      ours.push_back(contest.run_ours());
      peer.push_back(contest.run_peer());
      ratios.push_back(peer.back() / ours.back());
    }
    outcome.our_seconds = summarize(ours);
    outcome.peer_seconds = summarize(peer);
    outcome.ratio = summarize(ratios);
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

std::string reads_table(const std::vector<ReadOutcome>& outcomes, const ReadOptions& options) {
  std::string text = fmt::format("reads, {} rounds, out of the page cache: median [95 % interval]\n", options.rounds);
  for (const ReadOutcome& o : outcomes) {
    text +=
        fmt::format("  {}\n    {:<34} {:>9}/s\n    {:<34} {:>9}/s\n", o.what, o.ours,
                    human_bytes(o.bytes / o.our_seconds.median), o.peer, human_bytes(o.bytes / o.peer_seconds.median));
    text +=
        fmt::format("    {:.2f} [{:.2f}, {:.2f}] times the peer's speed\n", o.ratio.median, o.ratio.low, o.ratio.high);
  }
  return text;
}

std::string input_loss_line(const InputLoss& l) {
  return fmt::format(
      "training {} from HDF5 files: {:.1f} ms a step, from memory {:.1f} ms: {:+.2f} % [{:+.2f}, {:+.2f}]; {:.2f} % of "
      "the time is spent waiting for input\n",
      l.model, l.seconds_files.median * 1e3, l.seconds_memory.median * 1e3, l.loss.median * 100, l.loss.low * 100,
      l.loss.high * 100, l.wait_share * 100);
}

std::vector<Record> reads_records(const std::vector<ReadOutcome>& outcomes, const InputLoss& loss, int rounds) {
  std::vector<Record> records;
  for (const ReadOutcome& o : outcomes) {
    Record& record = records.emplace_back(Record{"reads", o.what, o.ours});
    record.entries = {{o.ours, o.our_seconds, rounds}, {o.peer, o.peer_seconds, rounds}};
    record.speedup = o.ratio;
    record.bytes = o.bytes;
    record.asked.speed = o.asked;
  }
  Record& record = records.emplace_back(Record{"reads", "training from HDF5 files", loss.model});
  record.entries = {{"a step from files", loss.seconds_files, rounds}};
  record.facts = {{"a step from memory, seconds", loss.seconds_memory.median}, {"waiting, share", loss.wait_share}};
  return records;
}

}  // namespace isobar::bench
