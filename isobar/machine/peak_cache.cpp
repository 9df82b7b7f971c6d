#include "isobar/machine/peak_cache.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <sstream>

#include <fmt/format.h>

#include "isobar/base/cache_file.hpp"
#include "isobar/base/text.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/machine/versions.hpp"

namespace isobar::machine {
namespace {

constexpr const char* peaks_first_line = "isobar: the peaks of this machine, FLOP/s and bytes/s; may be deleted";
constexpr const char* last_line = "end";
constexpr double quick_seconds = 0.05;

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

// Rank 0's text, on all ranks.
std::string shared(comm::Comm& world, const std::string& text) {
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  comm::Bytes bytes(begin, begin + text.size());
  comm::broadcast(world, bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Peaks measure_together(comm::Comm& world, const PeakCache& cache) {
  const std::vector<int>& nodes = world.nodes();
  const auto sharers = std::ranges::count(nodes, nodes[world.rank()]);
  comm::barrier(world);
  const Peaks mine = cache.measure(sharers);
  Peaks all{0, 0, 0};
  for (const comm::Bytes& bytes : comm::all_gather(world, std::as_bytes(std::span(&mine, 1)))) {
    Peaks theirs;
    expects(bytes.size() == sizeof theirs, "the peaks of a rank");
    std::memcpy(&theirs, bytes.data(), sizeof theirs);
    all.flops_per_second += theirs.flops_per_second;
    all.bytes_per_second += theirs.bytes_per_second;
    all.threads += theirs.threads;
  }
  return all;
}

bool is_day(const std::string& text) {
  constexpr std::string_view form = "0000-00-00";
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i)
    if (form[i] == '-' ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
  return true;
}

}  // namespace

PeakCache peak_cache(const std::string& processor, const comm::Comm& world, int threads, Instructions level) {
  const int nodes = *std::ranges::max_element(world.nodes()) + 1;
  PeakCache cache;
  cache.key = fmt::format("{} as {}; {} ranks on {} nodes with {} threads; isobar {}, {}", one_line(processor),
                          name_of(level), world.size(), nodes, threads, program_version(), program_build());
  cache.file = cache_file(fmt::format("peaks-{:016x}.txt", hash_text(cache.key)));
  cache.measure = [](int sharers) { return measure_peaks(quick_seconds, sharers); };
  return cache;
}

KnownPeaks known_peaks(comm::Comm& world, const PeakCache& cache, bool anew) {
  const std::string key = shared(world, cache.key);
  const std::string text = shared(world, world.rank() == 0 && !anew ? read_cache(cache.file) : "");
  if (const auto known = parse_peaks(text, key)) return *known;
  const KnownPeaks fresh{measure_together(world, cache), today()};
  if (world.rank() == 0) write_cache(cache.file, peaks_text(fresh, key));
  return fresh;
}

std::string peaks_text(const KnownPeaks& known, const std::string& key) {
  return fmt::format("{}\n{}\n{} {} {} {}\n{}\n", peaks_first_line, key, known.peaks.flops_per_second,
                     known.peaks.bytes_per_second, known.peaks.threads, known.day, last_line);
}

std::optional<KnownPeaks> parse_peaks(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  std::string line, rest;
  if (!std::getline(lines, line) || line != peaks_first_line) return {};
  if (!std::getline(lines, line) || line != key) return {};
  if (!std::getline(lines, line) || !std::getline(lines, rest) || rest != last_line) return {};
  KnownPeaks known;
  std::istringstream words(line);
  if (!(words >> known.peaks.flops_per_second >> known.peaks.bytes_per_second >> known.peaks.threads >> known.day))
    return {};
  const auto possible = [](double rate) { return rate > 1e6 && rate < 1e21; };  // NaN is neither
  if (words >> rest || !is_day(known.day) || known.peaks.threads < 1 || !possible(known.peaks.flops_per_second) ||
      !possible(known.peaks.bytes_per_second))
    return {};
  return known;
}

}  // namespace isobar::machine
