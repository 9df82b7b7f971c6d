// What-if for samples: where they are read from and how fast, and how many a step takes.
#include "isobar/base/text.hpp"
#include "isobar/forecast/forecast_text.hpp"
#include "isobar/forecast/stretches.hpp"
#include "isobar/forecast/value_text.hpp"
#include "isobar/forecast/what_if.hpp"

namespace isobar::forecast {
namespace {

// Bytes per second that all ranks together need so that none waits.
double needed(const sim::Scenario& s) {
  return s.workload.sample_bytes * s.workload.batch * s.ranks / s.workload.compute_seconds();
}

double given(const sim::Scenario& s, sim::Input input) {
  if (input == sim::Input::node_local) return s.platform.node.storage_bytes_per_second * s.nodes();
  const sim::StorageModel& storage =
      input == sim::Input::burst_buffer ? s.platform.burst_buffer : s.platform.file_system;
  const double clients = storage.client_bytes_per_second * s.nodes();
  return clients > 0 ? std::min(clients, storage.bytes_per_second) : storage.bytes_per_second;
}

std::string rate(double bytes) { return human_bytes(bytes) + "/s"; }

Variant source(const sim::Scenario& base, std::string label, sim::Input input) {
  Variant variant{.label = std::move(label), .scenario = base};
  variant.scenario.input = input;
  const double gives = given(base, input);
  variant.facts = {rate(needed(base)), input == sim::Input::none ? "-" : rate(gives)};
  if (input != sim::Input::none && gives <= 0)
    variant.missing = fmt::format("platform '{}' has none", base.platform.name);
  return variant;
}

std::vector<Variant> inputs(const sim::Scenario& base, std::span<const std::string> values) {
  std::vector<Variant> variants{source(base, "in memory", sim::Input::none),
                                source(base, "file system", sim::Input::file_system),
                                source(base, "burst buffer", sim::Input::burst_buffer),
                                source(base, "node-local storage", sim::Input::node_local)};
  for (const std::string& text : values) {
    sim::Scenario other = base;
    other.platform.file_system = {value_of<double>(text, "file system's GB/s", 1e-6, 1e9) * 1e9, 0};
    variants.push_back(source(other, fmt::format("a file system of {} GB/s", text), sim::Input::file_system));
  }
  return variants;
}

std::vector<Variant> batches(const sim::Scenario& base, std::span<const std::string> values) {
  std::vector<std::string> texts(values.begin(), values.end());
  if (texts.empty())
    for (int factor = 1; factor <= 16; factor *= 2) texts.push_back(std::to_string(base.workload.batch * factor));
  std::vector<Variant> variants;
  for (const std::string& text : texts) {
    const std::int64_t batch = value_of<std::int64_t>(text, "batch of a rank", 1, 1 << 24);
    Variant variant{.label = with_commas(batch), .scenario = base};
    variant.scenario.change_parts([&](const sim::Workload& part) { return with_batch(part, batch); });
    variant.facts = {with_commas(batch * base.ranks), rate(needed(variant.scenario))};
    variants.push_back(std::move(variant));
  }
  return variants;
}

}  // namespace

extern const Quantity input_quantity;
const Quantity input_quantity{"input",
                              "where samples are read from; values are GB/s of a file system for all nodes together",
                              {"needed", "there is"},
                              inputs};
extern const Quantity batch_quantity;
const Quantity batch_quantity{"batch", "samples of a rank in a step", {"global batch", "input needed"}, batches};

}  // namespace isobar::forecast
