#include "isobar/bench/sums.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/text.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/tensor/tensor.hpp"

namespace isobar::bench {
namespace {

// The time of the slowest rank; over several sums in a row, so that leaving the barrier does not matter.
double timed(comm::Comm& comm, int repeats, const std::function<void()>& sum) {
  comm::barrier(comm);
  const double begin = now_seconds();
  for (int i = 0; i < repeats; ++i) sum();
  return comm::all_largest(comm, (now_seconds() - begin) / repeats);
}

std::string interval(const Summary& s, double scale, const char* unit) {
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]{}", s.median * scale, s.low * scale, s.high * scale, unit);
}

}  // namespace

std::vector<SumOutcome> measure_sums(comm::Comm& comm, const SumContest& contest) {
  const std::size_t most = *std::ranges::max_element(contest.bytes) / sizeof(float);
  const auto memory = comm::gradient_memory(comm, most, contest.options);
  const auto reducer = comm::make_reducer(comm, *memory, contest.options);
  const auto library = comm.native_sum();
  const Block block(library ? most * sizeof(float) : 0);
  const std::span<float> theirs(reinterpret_cast<float*>(block.data()), library ? most : 0);
  std::ranges::fill(theirs, 0.0f);  // touch both before timing
  std::ranges::fill(reducer->memory(), 0.0f);
  std::vector<SumOutcome> outcomes;
  for (const std::size_t bytes : contest.bytes) {
    const std::size_t count = bytes / sizeof(float);
    const int repeats = std::clamp<std::size_t>(64'000'000 / bytes, 2, 200);
    const auto our_sum = [&] { reducer->wait(reducer->start({{0, count}, 0, "benchmark"})); };
    const auto their_sum = [&] { library(theirs.first(count)); };
    std::vector<double> ours, of_library, ratios;
    for (int round = -1; round < contest.rounds; ++round) {  // the first warms up
      const double a = timed(comm, repeats, our_sum);
      const double b = library ? timed(comm, repeats, their_sum) : 0;
      if (round < 0) continue;
      ours.push_back(a);
      if (!library) continue;
      of_library.push_back(b);
      ratios.push_back(b / a);
    }
    SumOutcome outcome{bytes, summarize(ours), {}, {}};
    if (library) outcome.library = summarize(of_library), outcome.ratio = summarize(ratios);
    outcomes.push_back(outcome);
  }
  return outcomes;
}

std::string sums_table(const std::vector<SumOutcome>& outcomes, comm::Comm& comm, const std::string& ours,
                       const std::string& library) {
  std::string text =
      fmt::format("sums over {} ranks: ours ({}) and {}'s own; median [95 % interval]\n", comm.size(), ours, library);
  for (const SumOutcome& o : outcomes) {
    text += fmt::format("  {:>9} {:>34}", human_bytes(o.bytes), interval(o.ours, 1e6, " us"));
    if (o.ratio.median > 0)
      text += fmt::format(" {:>36}   {:>22} times as fast", interval(o.library, 1e6, " us"), interval(o.ratio, 1, ""));
    text += "\n";
  }
  return text;
}

std::vector<Record> sums_records(const std::vector<SumOutcome>& outcomes, int ranks, const std::string& ours,
                                 const std::string& library, int rounds) {
  std::vector<Record> records;
  for (const SumOutcome& o : outcomes) {
    Record& record =
        records.emplace_back(Record{"sums", ours, fmt::format("{} over {} ranks", human_bytes(o.bytes), ranks)});
    record.entries = {{"isobar, " + ours, o.ours, rounds}};
    if (o.ratio.median > 0) record.entries.push_back({library, o.library, rounds});
    record.speedup = o.ratio;
    record.bytes = static_cast<double>(o.bytes);
  }
  return records;
}

}  // namespace isobar::bench
