#include "isobar/run/look_around.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "isobar/base/instructions.hpp"
#include "isobar/base/text.hpp"
#include "isobar/machine/machine.hpp"
#include "isobar/machine/peak_cache.hpp"
#include "isobar/machine/versions.hpp"
#include "isobar/tensor/engine.hpp"

namespace isobar::run {
namespace {

// Words end with a zero byte.
std::string command_line() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(in, word, '\0');) words.push_back(word);
  return shell_line(words);
}

std::vector<std::pair<std::string, std::string>> facts_of(const machine::Machine& machine) {
  std::vector<std::pair<std::string, std::string>> facts{
      {"processor", machine.processor + (machine.is_virtual ? " (virtual machine)" : "")},
      {"cores", fmt::format("{} in {} socket{}, {} hardware threads", machine.cores, machine.sockets,
                            machine.sockets == 1 ? "" : "s", machine.hardware_threads)},
      {"memory", human_bytes(machine.memory_bytes)},
      {"memory nodes", std::to_string(machine.memory_nodes)}};
  if (!machine.processor_numbers.empty()) facts.emplace_back("processor numbers", machine.processor_numbers);
  for (const machine::Cache& cache : machine.caches)
    facts.emplace_back(fmt::format("L{} cache", cache.level),
                       fmt::format("{} x {:.0f} KiB", cache.count, cache.bytes / 1024));
  if (machine.quota > 0) facts.emplace_back("allowed processors", fmt::format("{:.3g}", machine.quota));
  if (machine.memory_limit > 0) facts.emplace_back("allowed memory", human_bytes(machine.memory_limit));
  if (!machine.governor.empty()) facts.emplace_back("governor", machine.governor);
  facts.emplace_back("load before", fmt::format("{:.2f}", machine.load));
  facts.emplace_back("instructions", fmt::format("{} (oneDNN: {})", name_of(instructions()), isa_choice().name));
  return facts;
}

}  // namespace

std::string shell_line(const std::vector<std::string>& words) {
  constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

record::Surroundings look_around(comm::Comm& world, int threads) {
  record::Surroundings around;
  machine::Machine machine;
  if (world.rank() == 0) {
    machine = machine::this_machine();
    around.command = command_line();
    around.versions = {{"isobar", machine::program_version()}};
    for (auto& version : machine::versions()) around.versions.push_back(std::move(version));
    if (!world.carrier().empty()) around.versions.emplace_back("MPI", world.carrier());
    around.machine = facts_of(machine);
  }
  const machine::KnownPeaks known = machine::known_peaks(world, machine::peak_cache(machine.processor, world, threads));
  around.peaks = {known.peaks.flops_per_second, known.peaks.bytes_per_second,
                  fmt::format("float multiply-adds from registers, and a = b + s c on arrays larger than the caches, "
                              "measured on {} with {} thread{}",
                              known.day, known.peaks.threads, known.peaks.threads == 1 ? "" : "s")};
  return around;
}

}  // namespace isobar::run
