#include "isobar/forecast/scenario_key.hpp"

#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/text.hpp"
#include "isobar/record/json_member.hpp"

namespace isobar::forecast {
namespace {

using Json = nlohmann::json;

// Must change when simulations of equal scenarios may give other results than earlier versions did.
constexpr int version = 2;

class Digest {
 public:
  template <class... Numbers>
  void add(const Numbers&... numbers) {
    (fmt::format_to(std::back_inserter(text_), "{};", numbers), ...);
  }
  template <class Numbers>
  void list(const Numbers& numbers) {
    add(numbers.size());
    for (const auto& number : numbers) add(number);
  }
  std::string key() const { return fmt::format("{:016x}", hash_text(text_)); }

 private:
  std::string text_{};
};

void add(Digest& digest, const sim::Platform& p) {
  digest.add(p.nodes, p.shared_cores, p.node.flops_per_second, p.node.cores, p.node.ranks,
             p.node.memory_bytes_per_second, p.node.sum_bytes_per_second, p.node.inside_bytes_per_second,
             p.node.inside_latency, p.node.storage_bytes_per_second);
  digest.add(static_cast<int>(p.network.kind), p.network.link_bytes_per_second, p.network.injection_bytes_per_second,
             p.network.latency, p.network.hop_latency, p.network.message_overhead, p.network.core_seconds_per_byte,
             p.network.efficiency);
  digest.list(p.network.shape), digest.list(p.network.up), digest.list(p.network.parallel);
  for (const sim::StorageModel& storage : {p.file_system, p.burst_buffer})
    digest.add(storage.bytes_per_second, storage.client_bytes_per_second);
  digest.add(p.noise.sigma, p.noise.straggler_probability, p.noise.straggler_seconds);
}

void add(Digest& digest, const ops::Talk& talk) {
  digest.add(static_cast<int>(talk.phase), talk.number, talk.circle, static_cast<int>(talk.type), talk.moves.size());
  for (const comm::Round& round : talk.moves) {
    digest.add(round.size());
    for (const comm::Move& move : round)
      digest.add(static_cast<int>(move.kind), move.peer, move.range.begin, move.range.count);
  }
}

void add(Digest& digest, const sim::Workload& w) {
  digest.add(w.batch, w.flops, w.sample_bytes, w.optimizer_slots);
  for (const auto* stretches : {&w.forward, &w.backward}) {
    digest.add(stretches->size());
    for (const sim::Stretch& stretch : *stretches) {
      digest.add(stretch.seconds), digest.list(stretch.final_parameters);
      if (stretch.talk) add(digest, *stretch.talk);
    }
  }
  digest.add(w.parameters.size());
  for (const sim::WorkloadParameter& p : w.parameters) digest.add(p.count, p.trained, p.update_seconds);
}

}  // namespace

std::string scenario_key(const sim::Scenario& s) {
  Digest digest;
  digest.add(version);
  add(digest, s.platform);
  digest.add(s.ways());
  for (int part = 0; part < s.ways(); ++part) add(digest, s.part(part));
  digest.add(s.strategy.str(), s.ranks, s.ranks_per_node, static_cast<int>(s.input), s.steps, s.seed,
             static_cast<int>(s.detail));
  digest.add(s.without.noise, s.without.input, s.without.contention, s.without.latency, s.without.bandwidth);
  return digest.key();
}

nlohmann::ordered_json row_of(const std::string& key, const sim::Scenario& scenario, const sim::Simulated& simulated,
                              bool losses) {
  nlohmann::ordered_json row{{"key", key},
                             {"platform", scenario.platform.name},
                             {"workload", scenario.workload.name},
                             {"ranks", scenario.ranks},
                             {"asked", scenario.strategy.str()},
                             {"strategy", simulated.strategy},
                             {"summary", simulated.summary},
                             {"detail", simulated.detail}};
  each_number(simulated, [&](const char* name, double value) { row[name] = value; });
  if (losses) each_loss(simulated.losses, [&](const char* name, double value) { row["losses"][name] = value; });
  return row;
}

std::optional<KeptRow> read_row(const Json& line) {
  KeptRow row{.key = record::member<std::string>(line, "key")};
  row.simulated.strategy = record::member<std::string>(line, "strategy");
  row.simulated.summary = record::member<std::string>(line, "summary");
  row.simulated.detail = record::member<std::string>(line, "detail");
  const auto read = [](const Json& from) {
    return [&from](const char* name, double& value) { value = record::member<double>(from, name, NAN); };
  };
  each_number(row.simulated, read(line));
  row.losses = line.is_object() && line.contains("losses");
  if (row.losses) each_loss(row.simulated.losses, read(line["losses"]));
  bool whole = row.key.size() == 16;
  each_number(row.simulated, [&](const char*, double value) { whole = whole && std::isfinite(value); });
  each_loss(row.simulated.losses, [&](const char*, double value) { whole = whole && std::isfinite(value); });
  if (!whole) return std::nullopt;
  return row;
}

}  // namespace isobar::forecast
