// isobar doctor: the machine as Isobar sees it, its measured peaks, and what would slow a run down. Started by mpirun,
// it also examines the ranks: where they are, which cores they get, how fast neighbours communicate.
#include <algorithm>
#include <omp.h>

#include <fmt/format.h>

#include "isobar/base/instructions.hpp"
#include "isobar/base/text.hpp"
#include "isobar/cli/ranks.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/machine/advice.hpp"
#include "isobar/machine/links.hpp"
#include "isobar/machine/machine.hpp"
#include "isobar/machine/parts.hpp"
#include "isobar/machine/peak_cache.hpp"
#include "isobar/machine/peaks.hpp"
#include "isobar/machine/versions.hpp"
#include "isobar/run/core_share.hpp"
#include "isobar/tensor/engine.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

// What doctor measured. With a single rank there are no links.
struct Measured {
  machine::Machine machine{};
  machine::Peaks peaks{};  // of all ranks of a node together
  machine::Links links{};
  std::vector<int> node_of_rank{0};
};

// The fraction of a processor's peak multiply-add rate that training convolutional networks typically reaches.
constexpr double sustained_part = 0.6;

struct Link {
  double gigabytes, microseconds;
  const char* how;
};

// The slowest link within nodes, or between nodes; or the assumed one.
Link slowest(const Measured& measured, bool inside, const Link& otherwise) {
  Link link{0, 0, "measured between ranks"};
  for (std::size_t r = 0; r < measured.links.latency_us.size() && r + 1 < measured.node_of_rank.size(); ++r) {
    if ((measured.node_of_rank[r] == measured.node_of_rank[r + 1]) != inside) continue;
    const double rate = measured.links.mb_per_second[r] / 1e3;
    link.gigabytes = link.gigabytes > 0 ? std::min(link.gigabytes, rate) : rate;
    link.microseconds = std::max(link.microseconds, measured.links.latency_us[r]);
  }
  return link.gigabytes > 0 ? link : otherwise;
}

// The machine as a platform file for isobar-sim: every number with its origin.
std::string platform_of(const Measured& measured) {
  const auto& nodes = measured.node_of_rank;
  const int node_count = 1 + *std::ranges::max_element(nodes);
  const auto ranks = std::ranges::count(nodes, 0);
  const double memory = measured.peaks.bytes_per_second / 1e9;
  const int cores = std::max(1, measured.machine.usable_threads);
  const Link inside = slowest(measured, true, {memory / 4, 1, "assumed: a quarter of the memory's rate"});
  const Link between = slowest(measured, false, {1.25, 20, "assumed: 10 Gbit/s Ethernet, nothing was measured"});
  return fmt::format(
      "# Written by `isobar doctor --platform`; `isobar-sim forecast --calibrate` makes it exact.\n"
      "summary = \"{}, measured\"\n"
      "nodes = {}  # {}\n\n"
      "[node]\n"
      "gflops = {:.4g}  # assumed: {:g} % of {:.4g} GF/s measured from registers\n"
      "cores = {}  # of this machine\n"
      "ranks = {}  # {}\n"
      "memory_gb_s = {:.4g}  # measured: a = b + s c\n"
      "sum_gb_s = {:.4g}  # assumed: the part of one core\n"
      "inside_gb_s = {:.4g}  # {}\n"
      "inside_us = {:.4g}  # {}\n\n"
      "[network]\n"
      "kind = \"crossbar\"\n"
      "link_gb_s = {:.4g}  # {}\n"
      "latency_us = {:.4g}  # {}\n"
      "message_us = 5  # assumed\n",
      measured.machine.processor, std::max(node_count, 64),
      node_count > 1 ? "as many as one may ask for; measured on fewer" : "assumed",
      measured.peaks.flops_per_second / 1e9 * sustained_part, 100 * sustained_part,
      measured.peaks.flops_per_second / 1e9, cores, ranks, nodes.size() > 1 ? "as started" : "assumed", memory,
      memory / cores, inside.gigabytes, inside.how, inside.microseconds, inside.how, between.gigabytes, between.how,
      between.microseconds, between.how);
}

void show_instructions(const AmxState& amx) {
  const InstructionChoice own = instruction_choice();
  const IsaChoice isa = isa_choice();
  fmt::print("\nInstructions\n  {:<14} {}\n", "built for", name_of(built_for));
  fmt::print("  {:<14} {}: {}\n", "kernels use", name_of(own.used), own.reason);
  fmt::print("  {:<14} {}: {}\n", "oneDNN uses", isa.name, isa.reason);
  fmt::print("  {:<14} {}\n", "matrix unit",
             amx.usable() ? fmt::format("AMX with {} palette{}", amx.palettes, amx.palettes == 1 ? "" : "s")
             : amx.flag   ? "AMX is announced but not described (CPUID leaf 0x1D is empty)"
                          : "none");
}

// Measures longer than a run without remembered peaks does; later runs are compared with this result.
machine::Peaks measure_anew(comm::Comm& comm, const machine::Machine& machine) {
  machine::PeakCache cache = machine::peak_cache(machine.processor, comm, omp_get_max_threads());
  cache.measure = [](int sharers) { return machine::measure_peaks(0.25, sharers); };
  return machine::known_peaks(comm, cache, /*anew=*/true).peaks;
}

void show(const machine::Peaks& peaks) {
  fmt::print("  {:<14} {}/s (float, from registers)\n", "multiply-add", human_flops(peaks.flops_per_second));
  fmt::print("  {:<14} {}/s (a = b + s c)\n", "memory", human_bytes(peaks.bytes_per_second));
}

machine::Peaks show_peaks(const machine::Machine& machine) {
  const auto alone = comm::alone();
  const machine::Peaks peaks = measure_anew(*alone, machine);
  fmt::print("\nMeasured now, {} thread{}\n", peaks.threads, peaks.threads == 1 ? "" : "s");
  show(peaks);
  return peaks;
}

std::string text_of(const comm::Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// On rank 0 the measured links go into `measured`.
void show_ranks(comm_mpi::World& world, bool quick, Measured& measured) {
  comm::Comm& comm = world.comm();
  const run::CoreShare cores(comm, 0);
  const auto placements = comm::all_gather(comm, std::as_bytes(std::span(cores.text())));
  const machine::Machine machine = machine::this_machine();
  const machine::Peaks peaks = quick ? machine::Peaks{} : measure_anew(comm, machine);
  const machine::Links links = quick ? machine::Links{} : machine::measure_links(comm);
  if (comm.rank() != 0) return;
  measured.links = links;
  measured.node_of_rank = comm.nodes();
  fmt::print("\nRanks\n  {:<14} {} on {} node{}\n", "number", comm.size(), world.node_count(),
             world.node_count() == 1 ? "" : "s");
  fmt::print("  {:<14} {}, threads {}\n", "MPI", world.version(), world.thread_level());
  const std::vector<std::string> hosts = world.hosts();
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    fmt::print("  {:<14} host {}, {}\n", fmt::format("rank {}", rank), hosts[rank],
               comm.size() == 1 ? "all that it may use" : text_of(placements[rank]));
  for (std::size_t rank = 0; rank < links.latency_us.size(); ++rank)
    fmt::print("  {:<14} latency {:.1f} us, {}/s\n", fmt::format("{} to {}", rank, rank + 1), links.latency_us[rank],
               human_bytes(1e6 * links.mb_per_second[rank]));
  if (quick) return;
  fmt::print("\nMeasured on all ranks at once, {} thread{} together\n", peaks.threads, peaks.threads == 1 ? "" : "s");
  show(peaks);
}

Measured show_machine(bool quick) {
  // Before everything else: while measuring, this program itself is the load.
  const machine::Facts facts{machine::this_machine(), amx_state(), machine::optimised_build()};
  fmt::print("Machine\n{}", machine::describe(facts.machine));
  show_instructions(facts.amx);
  fmt::print("\nVersions\n  {:<14} {}\n", "isobar", machine::program_version());
  for (const auto& [name, version] : machine::versions()) fmt::print("  {:<14} {}\n", name, version);
  fmt::print("\nParts of this build\n{}", machine::describe(machine::parts()));
  Measured measured{.machine = facts.machine};
  if (!quick) measured.peaks = show_peaks(facts.machine);
  fmt::print("\nWhat would slow a run down\n");
  const std::vector<std::string> findings = machine::advice(facts);
  for (const std::string& finding : findings) fmt::print("  - {}\n", finding);
  if (findings.empty()) fmt::print("  nothing was found\n");
  return measured;
}

struct DoctorOptions {
  bool quick = false;
  std::string platform{};
};

void examine(comm_mpi::World& world, const DoctorOptions& options) {
  Measured measured;
  const bool first = world.comm().rank() == 0;
  if (first) measured = show_machine(options.quick);
  if (!comm_mpi::launched().launcher.empty()) show_ranks(world, options.quick, measured);
  if (!first || options.platform.empty()) return;
  disk::write_text(options.platform, platform_of(measured));
  fmt::print("\nwritten: {0}, for isobar-sim forecast --platform {0}\n", options.platform);
}

void declare_doctor(CLI::App& command) {
  const auto options = std::make_shared<DoctorOptions>();
  auto* const quick = command.add_flag("--quick", options->quick, "measure nothing");
  command.add_option("--platform", options->platform, "write what was measured as a platform file for isobar-sim")
      ->type_name("FILE")
      ->excludes(quick);
  command.callback([options] { on_all_ranks([&](comm_mpi::World& world) { examine(world, *options); }); });
}

}  // namespace

extern const Verb doctor_verb{"doctor", "look at this machine: processor, threads, memory, versions, speed, problems",
                              declare_doctor};

}  // namespace isobar::cli
