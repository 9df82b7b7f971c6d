#include "isobar/cli/doctor_platform.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace isobar::cli {
namespace {

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

}  // namespace

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

}  // namespace isobar::cli
