#include "isobar/comm/measured_choice.hpp"

#include <algorithm>
#include <cstring>
#include <unistd.h>

#include "isobar/base/cache_file.hpp"
#include "isobar/base/text.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/comm/crew.hpp"

namespace isobar::comm {
namespace {

constexpr std::size_t first_length = 1024, last_length = std::size_t{4} << 20, growth = 4;  // 4 kB to 16 MB
constexpr double budget_seconds = 2;
constexpr std::size_t steady_length = std::size_t{1} << 18;  // from here on latency no longer changes the order

std::vector<std::size_t> lengths_for(std::size_t floats) {
  std::vector<std::size_t> lengths{std::min(first_length, floats)};
  while (lengths.back() * growth <= std::min(last_length, floats)) lengths.push_back(lengths.back() * growth);
  return lengths;
}

// Everything the measurement depends on, without machine names in plain text.
std::string key_of(Comm& comm, const ReducerOptions& options, std::size_t longest) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  std::string machine = comm.carrier();
  for (const Bytes& name : all_gather(comm, std::as_bytes(std::span(host))))
    machine += fmt::format(" {}", reinterpret_cast<const char*>(name.data()));
  for (const int node : comm.nodes()) machine += fmt::format(" {}", node);
  return fmt::format("{} ranks, {} nodes, {} bytes a number, up to {} numbers, machine {:016x}, algorithm {}",
                     comm.size(), std::ranges::max(comm.nodes()) + 1, options.codec->bound(1), longest,
                     hash_text(machine), options.algorithm.str());
}

// The longest time any rank took, by candidate, so that all ranks decide the same.
std::vector<double> slowest(Comm& comm, const std::vector<double>& mine) {
  std::vector<double> seconds(mine.size());
  for (const Bytes& bytes : all_gather(comm, std::as_bytes(std::span(mine)))) {
    std::vector<double> theirs(mine.size());
    std::memcpy(theirs.data(), bytes.data(), bytes.size());
    for (std::size_t i = 0; i < mine.size(); ++i) seconds[i] = std::max(seconds[i], theirs[i]);
  }
  return seconds;
}

double time_sum(Comm& comm, Reducer& reducer, std::size_t length) {
  barrier(comm);
  const double began = comm.now();
  reducer.wait(reducer.start({{0, length}, 0, fmt::format("measuring {} numbers", length)}));
  return comm.now() - began;
}

// The memory is zero, and sums of zeros keep it zero.
Choice measure(Comm& comm, Reducer& reducer, std::size_t& candidate, std::size_t candidates) {
  Choice choice;
  std::vector<std::size_t> left(candidates);
  for (std::size_t i = 0; i < candidates; ++i) left[i] = i;
  double spent = 0, last_round = 0;
  for (const std::size_t length : lengths_for(reducer.memory().size())) {
    if (!choice.empty() && spent + last_round * growth > budget_seconds) break;
    const bool slow = last_round > budget_seconds / 40;
    const double began = comm.now();
    std::vector<double> mine;
    for (const std::size_t each : left) {
      candidate = each;
      double best = time_sum(comm, reducer, length);  // also a warm-up
      for (int i = 0; i < 3 && !slow; ++i) best = std::min(best, time_sum(comm, reducer, length));
      mine.push_back(best);
    }
    mine.push_back(comm.now() - began);
    std::vector<double> seconds = slowest(comm, mine);
    last_round = seconds.back();
    spent += last_round;
    seconds.pop_back();
    const auto best = std::ranges::min_element(seconds);
    choice.push_back({length * growth / 2, left[static_cast<std::size_t>(best - seconds.begin())]});
    if (length < steady_length) continue;
    std::vector<std::size_t> near;  // a candidate that is far behind by now stays behind
    for (std::size_t i = 0; i < left.size(); ++i)
      if (seconds[i] <= 2 * *best) near.push_back(left[i]);
    left = near;
  }
  return choice;
}

std::string text_of_first(Comm& comm, const std::filesystem::path& file) {
  std::string text;
  if (comm.rank() == 0 && !file.empty()) text = read_cache(file);
  broadcast(comm, text);
  return text;
}

}  // namespace

void choose_routes(Comm& comm, BackgroundReducer& reducer, std::vector<std::unique_ptr<Route>> candidates,
                   const ReducerOptions& options) {
  expects(!candidates.empty(), "a candidate");
  std::vector<std::string> names;
  std::vector<std::unique_ptr<Route>> routes;
  for (auto& route : candidates) {
    names.push_back(route->describe());
    routes.push_back(std::move(route));
  }
  reducer.use(std::move(routes));
  const auto choose = [&](const Choice& choice, const char* how) {
    reducer.choose([choice](std::size_t count) { return chosen(choice, count); },
                   fmt::format("{} ({} for {} ranks on {} nodes)", describe(choice, names), how, comm.size(),
                               std::ranges::max(comm.nodes()) + 1));
  };
  const Choice unmeasured = unmeasured_choice(names.size());
  if (names.size() == 1) return choose(unmeasured, "asked for");
  if ((comm.carrier().empty() && options.cache.empty()) || reducer.memory().empty())
    return choose(unmeasured, "not measured");
  const std::string key = key_of(comm, options, lengths_for(reducer.memory().size()).back());
  const std::filesystem::path file = options.cache.empty() ? choice_file(key) : std::filesystem::path(options.cache);
  if (const auto known = parse_choice(text_of_first(comm, file), names, key)) return choose(*known, "remembered");
  if (comm.elastic() && comm.epoch() > first_epoch) return choose(unmeasured, "not measured");  // the work waits

  std::size_t candidate = 0;
  reducer.choose([&](std::size_t) { return candidate; }, "measuring");
  const Choice choice = measure(comm, reducer, candidate, names.size());
  if (comm.rank() == 0 && !file.empty()) write_cache(file, choice_text(choice, names, key));
  choose(choice, "measured");
}

}  // namespace isobar::comm
