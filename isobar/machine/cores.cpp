#include "isobar/machine/cores.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace isobar::machine {
namespace {

// If a rank has at least this many cores, reserving one for communication pays off.
constexpr std::size_t enough_cores = 8;

Cores part(const Cores& all, std::size_t parts, std::size_t index) {
  return {all.begin() + all.size() * index / parts, all.begin() + all.size() * (index + 1) / parts};
}

}  // namespace

Share divide_cores(const std::vector<Cores>& ranks, int rank, int threads, bool background) {
  const Cores& own = ranks[rank];
  Share share;
  share.by_launcher = std::ranges::any_of(ranks, [&](const Cores& other) { return other != own; });
  const Cores mine = share.by_launcher ? own : part(own, ranks.size(), rank);
  share.threads = threads > 0 ? threads : std::max<int>(1, std::ssize(mine));
  if (!share.by_launcher && own.size() < ranks.size()) return share;  // several ranks would have to share a core
  const auto count = mine.size();
  std::size_t computing = std::min<std::size_t>(count, share.threads);
  if (threads == 0 && background && count >= enough_cores) --computing;
  share.compute.assign(mine.begin(), mine.begin() + computing);
  share.communication.assign(mine.begin() + computing, mine.end());
  if (threads == 0) share.threads = std::max<int>(1, computing);
  if (share.communication.empty()) share.communication = share.compute;
  return share;
}

std::string ranges(const Cores& cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", cores[i]);
    if (last > i) text += fmt::format("-{}", cores[last]);
    i = last + 1;
  }
  return text;
}

std::string Share::describe() const {
  std::string text = fmt::format("{} thread{} each", threads, threads == 1 ? "" : "s");
  if (!bound()) return text + ", not bound: there are fewer cores than ranks";
  text += fmt::format(", bound{} to cores {}", by_launcher ? " by the launcher" : "", ranges(compute));
  return text + (communication == compute ? "; communication shares them"
                                          : fmt::format("; communication on {}", ranges(communication)));
}

}  // namespace isobar::machine
