// isobar bench operators: level 0, every operator of the catalogue compared with oneDNN's primitive and PyTorch's.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "isobar/base/row.hpp"
#include "isobar/bench/operators.hpp"
#include "isobar/cli/bench_level.hpp"

namespace isobar::cli {
namespace {

void bench_operators(const BenchOptions& options, RecordBook& book) {
  std::vector<std::unique_ptr<bench::Contestant>> peers;
  bench::OperatorContest contest{options.effort(30, 2), {}};
  if (!options.peers.empty())
    for (const char* layout : {"plain", "channels_last"}) {
      peers.push_back(std::make_unique<bench::Contestant>(
          std::vector<std::string>{"/usr/bin/python3", options.peers + "/torch_operators.py", "--layout", layout,
                                   "--threads", std::to_string(options.threads)}));
      contest.peers.push_back(peers.back().get());
    }
  const int rounds = std::min(6, options.rounds_or(6));  // of methods: each time is already a median of three
  for (const ops::OperatorRow* row : ops::operators()) {
    const auto& only = options.only;
    if (!only.empty() && std::find(only.begin(), only.end(), row->name) == only.end()) continue;
    for (const ops::Problem& problem : bench::operator_problems(*row)) {
      note(problem.spec);
      auto records = bench::measure_operator(problem, contest);
      note("");
      for (bench::Record& record : records) book.add(std::move(record));
      for (bench::Record& record : bench::measure_methods(problem.spec, problem.in[0], rounds))
        book.add(std::move(record));
    }
  }
}

}  // namespace

extern const BenchLevel operators_level{"operators", "every operator against oneDNN's bare primitive and PyTorch's",
                                        bench_operators};

}  // namespace isobar::cli
