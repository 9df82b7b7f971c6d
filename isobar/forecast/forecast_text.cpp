#include "isobar/forecast/forecast_text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/text.hpp"

namespace isobar::forecast {
namespace {

using OrderedJson = nlohmann::ordered_json;

bool has_losses(const Forecast& forecast) {
  bool any = false;
  for (const ForecastRow& row : forecast.rows)
    each_loss(row.simulated.losses, [&](const char*, double loss) { any = any || loss != 0; });
  return any;
}

std::string rows_of(const Forecast& forecast, Mode mode) {
  std::size_t widest = 8;
  for (const Spec& strategy : forecast.sweep.strategies) widest = std::max(widest, strategy.str().size());
  const bool losses = has_losses(forecast);
  std::string text = fmt::format("{:<{}} {:>7} {:>8} {:>10} {:>11} {:>10} {:>10} {:>9}", "strategy", widest, "ranks",
                                 "batch", "ms/step", "samples/s", "efficiency", "exposed ms", "PF/s");
  if (losses)
    text += fmt::format(" | {:>9} {:>9} {:>9} {:>9} {:>9}", "latency", "bandwidth", "contended", "straggle", "I/O");
  text += fmt::format(" | {}\n", "by");
  for (const ForecastRow& row : forecast.rows) {
    if (row.mode != mode) continue;
    const sim::Simulated& s = row.simulated;
    text += fmt::format("{:<{}} {:>7} {:>8g} {:>10.2f} {:>11.1f} {:>9.1f}% {:>10.2f} {:>9.4g}", row.strategy.str(),
                        widest, row.ranks, row.batch, s.step_seconds * 1e3, row.samples_per_second,
                        row.efficiency * 100, (s.exposed_seconds + s.talk_seconds) * 1e3, row.flops_per_second * 1e-15);
    if (losses)
      text += fmt::format(" | {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f}", s.losses.latency * 1e3,
                          s.losses.bandwidth * 1e3, s.losses.contention * 1e3, s.losses.stragglers * 1e3,
                          s.losses.input * 1e3);
    text += fmt::format(" | {}\n", s.detail);
  }
  return text;
}

}  // namespace

const char* input_name(sim::Input input) {
  switch (input) {
    case sim::Input::none: return "samples are in memory already";
    case sim::Input::file_system: return "samples from the file system";
    case sim::Input::burst_buffer: return "samples from the burst buffer";
    case sim::Input::node_local: return "samples from the node's own storage";
  }
  return "";
}

std::string platform_line(const sim::Scenario& scenario) {
  const sim::Platform& p = scenario.platform;
  const int on_node = scenario.on_node();
  return fmt::format("{}{}{}: {} nodes, {} rank{} on each, {}", p.name, p.summary.empty() ? "" : ", ", p.summary,
                     with_commas(p.nodes), on_node, on_node == 1 ? "" : "s", input_name(scenario.input));
}

std::string workload_line(const sim::Workload& w) {
  return fmt::format("{}: batch {} on a rank, {} and {:.4g} ms of computing a step, {} of gradients\n  from {}", w.name,
                     w.batch, human_flops(w.flops), w.compute_seconds() * 1e3,
                     human_bytes(w.gradient_numbers() * sizeof(float)), w.origin);
}

std::string forecast_text(const Forecast& forecast) {
  std::string text = platform_line(forecast.sweep.base) + "\n" + workload_line(forecast.sweep.base.workload) + "\n";
  if (!forecast.calibration.empty()) text += forecast.calibration + "\n";
  for (const Mode mode : forecast.sweep.modes) {
    text += mode == Mode::weak ? "\nWeak scaling: every rank keeps its batch; efficiency against one rank\n"
                               : "\nStrong scaling: all ranks share one batch; efficiency against the fewest ranks\n";
    text += rows_of(forecast, mode);
  }
  text +=
      "exposed: a rank waits for other ranks; right of the line: ms by which a step would be shorter without that "
      "loss\n";
  for (const std::string& note : forecast.notes) text += "note: " + note + "\n";
  return text + "error: " + forecast.error.text + "\n";
}

std::string forecast_csv(const Forecast& forecast) {
  std::string text =
      "mode,strategy,ranks,batch,step_seconds,samples_per_second,efficiency,exposed_seconds,exchange_seconds,"
      "input_seconds,flops_per_second,lost_latency,lost_bandwidth,lost_contention,lost_stragglers,lost_input,"
      "sent_messages,sent_bytes,detail,real_seconds,peak_bytes,error_mean\n";
  for (const ForecastRow& row : forecast.rows) {
    const sim::Simulated& s = row.simulated;
    text += fmt::format(
        "{},\"{}\",{},{:g},{:.9g},{:.9g},{:.6g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.6g},"
        "{:.0f},{},{:.3g},{:.0f},{}\n",
        mode_name(row.mode), row.strategy.str(), row.ranks, row.batch, s.step_seconds, row.samples_per_second,
        row.efficiency, s.exposed_seconds, s.exchange_seconds, s.input_seconds, row.flops_per_second, s.losses.latency,
        s.losses.bandwidth, s.losses.contention, s.losses.stragglers, s.losses.input, s.sent_messages, s.sent_bytes,
        s.detail, s.real_seconds, s.peak_bytes,
        forecast.error.runs > 0 ? fmt::format("{:.4g}", forecast.error.mean) : "unknown");
  }
  return text;
}

std::string forecast_json(const Forecast& forecast) {
  const sim::Scenario& base = forecast.sweep.base;
  OrderedJson rows = OrderedJson::array();
  for (const ForecastRow& row : forecast.rows) {
    const sim::Simulated& s = row.simulated;
    rows.push_back({{"mode", mode_name(row.mode)},
                    {"strategy", row.strategy.str()},
                    {"does", s.strategy},
                    {"ranks", row.ranks},
                    {"batch", row.batch},
                    {"step_seconds", s.step_seconds},
                    {"compute_seconds", s.compute_seconds},
                    {"samples_per_second", row.samples_per_second},
                    {"efficiency", row.efficiency},
                    {"exposed_seconds", s.exposed_seconds},
                    {"exchange_seconds", s.exchange_seconds},
                    {"input_seconds", s.input_seconds},
                    {"flops_per_second", row.flops_per_second},
                    {"sent_messages", s.sent_messages},
                    {"sent_bytes", s.sent_bytes},
                    {"losses",
                     {{"latency", s.losses.latency},
                      {"bandwidth", s.losses.bandwidth},
                      {"contention", s.losses.contention},
                      {"stragglers", s.losses.stragglers},
                      {"input", s.losses.input}}},
                    {"detail", s.detail},
                    {"real_seconds", s.real_seconds},
                    {"peak_bytes", s.peak_bytes}});
  }
  OrderedJson error{{"known", forecast.error.runs > 0}, {"text", forecast.error.text}};
  if (forecast.error.runs > 0)
    error["runs"] = forecast.error.runs, error["mean"] = forecast.error.mean, error["worst"] = forecast.error.worst;
  const OrderedJson all{{"platform", base.platform.name},
                        {"workload", base.workload.name},
                        {"origin", base.workload.origin},
                        {"batch", base.workload.batch},
                        {"flops", base.workload.flops},
                        {"compute_seconds", base.workload.compute_seconds()},
                        {"input", input_name(base.input)},
                        {"calibration", forecast.calibration},
                        {"error", error},
                        {"notes", forecast.notes},
                        {"rows", rows}};
  return all.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace isobar::forecast
