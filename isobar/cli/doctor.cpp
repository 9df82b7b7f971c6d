// isobar doctor: the machine as Isobar sees it, what it gives, and what would slow a run down.
#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/bench/advice.hpp"
#include "isobar/bench/machine.hpp"
#include "isobar/bench/peaks.hpp"
#include "isobar/bench/versions.hpp"
#include "isobar/cli/verb.hpp"
#include "isobar/tensor/engine.hpp"

namespace isobar::cli {
namespace {

void show_instructions(const AmxState& amx) {
  const IsaChoice isa = isa_choice();
  fmt::print("\nInstructions\n  {:<14} {}: {}\n", "oneDNN uses", isa.name, isa.reason);
  fmt::print("  {:<14} {}\n", "matrix unit",
             amx.usable() ? fmt::format("AMX with {} palette{}", amx.palettes, amx.palettes == 1 ? "" : "s")
             : amx.flag   ? "AMX is announced but not described (CPUID leaf 0x1D is empty)"
                          : "none");
}

void show_peaks() {
  const bench::Peaks peaks = bench::measure_peaks();
  fmt::print("\nMeasured now, {} thread{}\n", peaks.threads, peaks.threads == 1 ? "" : "s");
  fmt::print("  {:<14} {}/s (float, from registers)\n", "multiply-add", human_flops(peaks.flops_per_second));
  fmt::print("  {:<14} {}/s (a = b + s c)\n", "memory", human_bytes(peaks.bytes_per_second));
}

void run(bool quick) {
  // First of all: while measuring, this program is itself the load.
  const bench::Facts facts{bench::this_machine(), amx_state(), bench::optimised_build()};
  fmt::print("Machine\n{}", bench::describe(facts.machine));
  show_instructions(facts.amx);
  fmt::print("\nVersions\n  {:<14} {}\n", "isobar", ISOBAR_VERSION);
  for (const auto& [name, version] : bench::versions()) fmt::print("  {:<14} {}\n", name, version);
  if (!quick) show_peaks();
  fmt::print("\nWhat would slow a run down\n");
  const std::vector<std::string> findings = bench::advice(facts);
  for (const std::string& finding : findings) fmt::print("  - {}\n", finding);
  if (findings.empty()) fmt::print("  nothing was found\n");
}

void declare(CLI::App& command) {
  const auto quick = std::make_shared<bool>(false);
  command.add_flag("--quick", *quick, "measure nothing");
  command.callback([quick] { run(*quick); });
}

}  // namespace

extern const Verb doctor_verb;
const Verb doctor_verb{"doctor", "look at this machine: processor, threads, memory, versions, speed, what is amiss",
                       declare};

}  // namespace isobar::cli
