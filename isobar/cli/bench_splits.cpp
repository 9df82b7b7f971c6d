// What `isobar bench splits` measures: one model cut over ranks of a thread each, against one rank with all their
// threads.
#include <cstdio>

#include "isobar/bench/split_contest.hpp"
#include "isobar/cli/bench_level.hpp"
#include "isobar/cli/launcher.hpp"

namespace isobar::cli {
namespace {

void measure_splits(const BenchOptions& all, RecordBook& book) {
  const RankOptions& options = all.ranks;
  bench::SplitContest contest;
  contest.model = options.split_model;
  contest.ranks = options.ranks;
  contest.split = options.split.empty() ? fmt::format("spatial(depth={})", options.ranks) : options.split;
  contest.rounds = all.rounds_or(10);
  contest.self = this_program();
  contest.launch = [&](int ranks) { return launch_words(ranks, options.launcher); };
  const auto outcome = bench::run_split_contest(contest, note);
  note("");
  fmt::print("{}\n", bench::split_table(contest, outcome));
  std::fflush(stdout);
  book.add(bench::split_record(contest, outcome), false);
}

}  // namespace

extern const BenchLevel splits_level{"splits", "one model cut over ranks compared with one rank", measure_splits};

}  // namespace isobar::cli
