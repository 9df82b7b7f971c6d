// A run folder as a run of `cosmoflow` would leave it, made without training, for tests of code that shows runs. Every
// number follows from the formulas below, so that tests know what must be shown.
#pragma once

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace isobar::report {

/// Properties of the made run.
struct MadeRun {
  int ranks = 2;
  std::int64_t epochs = 4, steps_per_epoch = 8;
  std::string reason = "finished";  ///< empty: killed
  bool described = true;            ///< with run.json
  bool traced = true;               ///< with profile/ and trace/
  bool pictures = true;
  bool peaks = true;  ///< known, in run.json
  double peak_flops = 1.2e12;
  int slow_rank = -1;  ///< computes a quarter longer than the others
  int ways = 1;        ///< ranks that a model is cut over: two layers exchange halos
  int servers = 0;     ///< so many of the last ranks keep parameters for the others, which go at their own pace
};

struct MadeKernel {
  std::string name, kernel, category, shape;
  double flops, bytes, live_bytes, seconds;
};

/// The plan of the made run; the first 5 are forward. One step of a rank that is not slow takes 0.020 s: these 18 ms,
/// 0.8 ms of updates, 0.6 ms of I/O, 0.2 ms of communication and 0.4 ms idle.
inline const std::vector<MadeKernel>& made_kernels() {
  static const std::vector<MadeKernel> all{
      {"conv1", "conv+leaky", "forward convolution", "4x32x32x32x16", 4.5e8, 1.0e7, 8.0e6, 2.0e-3},
      {"pool1", "max_pool", "forward point-wise", "4x16x16x16x16", 2.1e6, 9.4e6, 9.0e6, 1.0e-3},
      {"conv2", "conv+leaky", "forward convolution", "4x16x16x16x32", 4.5e8, 3.1e6, 1.1e7, 1.5e-3},
      {"dense1", "dense", "forward convolution", "4x4", 1.0e6, 2.0e6, 1.2e7, 0.3e-3},
      {"loss", "mean_squared_error", "forward point-wise", "1", 50, 100, 1.2e7, 0.2e-3},
      {"loss", "mean_squared_error gradient", "backward point-wise", "4x4", 50, 100, 1.2e7, 0.2e-3},
      {"dense1", "dense weight gradient", "backward convolution", "4096x4", 1.0e6, 2.0e6, 1.15e7, 0.8e-3},
      {"conv2", "conv weight gradient", "backward convolution", "27x16x32", 4.5e8, 3.2e6, 1.1e7, 4.0e-3},
      {"conv2", "conv data gradient", "backward convolution", "4x16x16x16x16", 4.5e8, 3.2e6, 1.05e7, 3.0e-3},
      {"pool1", "max_pool gradient", "backward point-wise", "4x32x32x32x16", 2.1e6, 9.4e6, 9.5e6, 1.0e-3},
      {"conv1", "conv weight gradient", "backward convolution", "27x4x16", 4.5e8, 1.0e7, 8.5e6, 4.0e-3}};
  return all;
}
inline constexpr std::size_t made_forward_steps = 5;

/// Messages of a model that is cut: forward and backward together, in a step of 20 ms.
struct MadeMessages {
  std::string node;
  std::vector<int> partners;
  double bytes, under_way, waited;
};
inline const std::vector<MadeMessages>& made_messages() {
  static const std::vector<MadeMessages> all{{"conv1 halo", {1}, 4.0e6, 2.0e-3, 0.1e-3},
                                             {"conv2 halo", {1, 2}, 1.0e6, 1.0e-3, 0.5e-3}};
  return all;
}

inline double made_loss(std::int64_t step) { return std::exp(-0.08 * static_cast<double>(step)) + 0.05; }
inline double made_test_loss(std::int64_t epoch) { return 0.9 / static_cast<double>(epoch) + 0.07; }

namespace made {

using Json = nlohmann::ordered_json;

inline void put(std::ofstream& out, const Json& line) { out << line.dump() << "\n"; }

inline Json cost(double waited, double busy, int messages, std::int64_t bytes) {
  return {{"waited_seconds", waited},
          {"busy_seconds", busy},
          {"sums", messages},
          {"messages_sent", messages},
          {"bytes_sent", bytes}};
}

inline void lines(const std::filesystem::path& folder, const MadeRun& run) {
  std::ofstream metrics(folder / "metrics.jsonl"), timing(folder / "timing.jsonl");
  put(timing, {{"kind", "start"},
               {"step", 0},
               {"threads", 1},
               {"ranks", run.ranks},
               {"nodes", 1},
               {"global_batch", 4},
               {"parameters", 123456},
               {"flops_per_sample", 4.5e8},
               {"arena_bytes", 1.3e7},
               {"weight_bytes", 1.5e6}});
  std::int64_t step = 0;
  Json test;
  for (std::int64_t e = 1; e <= run.epochs; ++e) {
    for (std::int64_t i = 0; i < run.steps_per_epoch; ++i) {
      ++step;
      put(metrics,
          {{"kind", "step"}, {"step", step}, {"epoch", e}, {"loss", made_loss(step)}, {"learning_rate", 1e-3}});
      Json times{{"kind", "step"},
                 {"step", step},
                 {"samples", 4},
                 {"seconds", 0.020},
                 {"wait_seconds", 0.0006},
                 {"exchange_seconds", run.ways > 1 ? 0.0008 : 0.0002},
                 {"bytes_sent", run.ways > 1 ? 5500000 : 500000}};
      if (run.ranks > 1) times["gradients"] = cost(0.0002, 0.0032, 2, 500000);
      if (run.ways > 1) times["messages"] = cost(0.0006, 0.0030, 4, 5000000);
      put(timing, times);
    }
    test = {{"loss", made_test_loss(e)}, {"mae", 2 * made_test_loss(e)}, {"mae.omega_m", made_test_loss(e)}};
    put(metrics,
        {{"kind", "epoch"}, {"step", step}, {"epoch", e}, {"train_loss", made_loss(step - 3)}, {"test", test}});
    put(timing, {{"kind", "epoch"}, {"step", step}, {"epoch", e}, {"train_seconds", 0.16}, {"test_seconds", 0.01}});
  }
  if (run.reason.empty()) return;
  put(metrics, {{"kind", "end"}, {"step", step}, {"reason", run.reason}, {"test", test}});
  put(timing, {{"kind", "end"},
               {"step", step},
               {"seconds", 0.2 * static_cast<double>(run.epochs)},
               {"step_seconds", 0.020 * static_cast<double>(step)},
               {"exchange", {{"waited_seconds", 0.01}, {"busy_seconds", 0.02}, {"sums", 64}}},
               {"exchanged", run.servers > 0 ? "64 updates (rank 0: 32, rank 1: 32)" : ""}});
}

inline void run_json(const std::filesystem::path& folder, const MadeRun& run) {
  Json steps = Json::array();
  for (const MadeKernel& k : made_kernels())
    steps.push_back({{"name", k.name},
                     {"kernel", k.kernel},
                     {"category", k.category},
                     {"shape", k.shape},
                     {"flops", k.flops},
                     {"bytes", k.bytes},
                     {"live_bytes", k.live_bytes}});
  Json messages = Json::array();
  for (const MadeMessages& m : run.ways > 1 ? made_messages() : std::vector<MadeMessages>()) {
    for (const char* talk : {"start", "finish"})
      steps.push_back({{"name", m.node}, {"kernel", talk}, {"category", "communication"}, {"talk", talk}});
    messages.push_back(
        {{"node", m.node}, {"circle", "replica"}, {"partners", m.partners}, {"messages", 2}, {"bytes", m.bytes}});
  }
  Json all{{"started", "2026-11-16T10:30:00Z"}, {"command", "isobar train made.toml --set train.epochs=4"}};
  all["versions"] = Json::parse(R"([["isobar", "0.1.0"], ["oneDNN", "2.6.3"], ["compiler", "g++ 12.2.0"]])");
  all["machine"] =
      Json::parse(R"([["processor", "Made Processor <at> 2.8 GHz"], ["cores", "2"], ["memory", "8.00 GB"]])");
  all["peaks"] = {{"flops_per_second", run.peaks ? run.peak_flops : 0.0},
                  {"bytes_per_second", run.peaks ? 2.0e10 : 0.0},
                  {"how", run.peaks ? "FMA loop and triad over 256 MB, 2 threads" : ""}};
  const std::pair<const char*, Json> rest[] = {{"ranks", run.ranks},
                                               {"nodes", 1},
                                               {"threads", 1},
                                               {"global_batch", 4},
                                               {"batching", "global batch 4"},
                                               {"strategy", "sync"},
                                               {"placement", "rank 0: core 0"},
                                               {"parameters", 123456},
                                               {"flops_per_sample", 4.5e8},
                                               {"train_samples", 4 * run.steps_per_epoch},
                                               {"test_samples", 8},
                                               {"epochs", run.epochs},
                                               {"steps_per_epoch", run.steps_per_epoch},
                                               {"first_step", 0},
                                               {"arena_bytes", 1.3e7},
                                               {"weight_bytes", 1.5e6},
                                               {"precision", "float32"},
                                               {"trace_steps", 2}};
  for (const auto& [key, value] : rest) all[key] = value;
  if (run.servers > 0) all["teams"] = run.ranks - run.servers;
  if (run.ways > 1) all["ways"] = run.ways, all["part"] = "depth 0-15 of 32";
  all["plan"] = {{"fingerprint", "0123456789abcdef"},
                 {"forward_steps", made_forward_steps},
                 {"steps", steps},
                 {"inputs", Json::parse(R"([["x", "32x32x32x4"]])")},
                 {"messages", messages}};
  std::ofstream(folder / "run.json") << all.dump(1) << "\n";
}

/// The events of one traced step of one rank, as complete events of a Chrome trace.
inline std::vector<Json> step_events(const MadeRun& run, int rank, std::int64_t step) {
  const double begin = 1e4 * static_cast<double>(step), slower = rank == run.slow_rank ? 1.25 : 1.0;
  double now = begin;
  std::vector<Json> events{{}};
  const auto add = [&](const std::string& name, const std::string& category, int lane, double at, double seconds,
                       double flops = 0, double bytes = 0) {
    events.push_back({{"name", name},
                      {"cat", category},
                      {"ph", "X"},
                      {"ts", at},
                      {"dur", 1e6 * seconds},
                      {"pid", rank},
                      {"tid", lane},
                      {"args", {{"step", step}, {"flops", flops}, {"bytes", bytes}}}});
    if (lane == 1) now += 1e6 * seconds;
  };
  add("waiting for input", "I/O", 1, now, 0.6e-3);
  for (const MadeKernel& k : made_kernels())
    add(k.name + " " + k.kernel, k.category, 1, now, slower * k.seconds, k.flops, k.bytes);
  add("gradients 1 of 1", "communication", 2, now - 3e3, 3.2e-3, 0, 1e6);
  add("gradients 1 of 1", "communication", 1, now, 0.2e-3);
  for (const MadeMessages& m : run.ways > 1 ? made_messages() : std::vector<MadeMessages>()) {
    add(m.node + " messages", "communication", 2, begin + 1e3, m.under_way, 0, m.bytes);
    add(m.node + " finish", "communication", 1, now, m.waited);
  }
  add("conv1.w update", "optimizer", 1, now, 0.8e-3, 1e6, 6e6);
  add("idle", "idle", 1, now, 0.4e-3);
  add("batch", "I/O", 3, begin + 2e3, 9e-3, 0, 2e6);
  events[0] = {{"name", fmt::format("step {}", step)},
               {"cat", "step"},
               {"ph", "X"},
               {"ts", begin},
               {"dur", now - begin},
               {"pid", rank},
               {"tid", 0},
               {"args", {{"step", step}, {"flops", 0}, {"bytes", 0}}}};
  return events;
}

inline void traces(const std::filesystem::path& folder, const MadeRun& run) {
  std::filesystem::create_directories(folder / "profile");
  std::filesystem::create_directories(folder / "trace");
  for (int rank = 0; rank < run.ranks; ++rank) {
    std::ofstream profile(folder / "profile" / fmt::format("rank{}.jsonl", rank));
    put(profile, {{"kind", "start"},
                  {"rank", rank},
                  {"node", 0},
                  {"host", "made"},
                  {"threads", 1},
                  {"role", rank >= run.ranks - run.servers ? "serves" : "trains"}});
    std::vector<Json> all{{{"name", "process_name"},
                           {"ph", "M"},
                           {"pid", rank},
                           {"tid", 0},
                           {"args", {{"name", fmt::format("rank {}", rank)}}}}};
    for (const std::int64_t step : {2, 6}) {
      Json totals;
      double seconds = 0;
      for (const Json& event : step_events(run, rank, step)) {
        all.push_back(event);
        if (event["tid"] != 1) continue;
        Json& total = totals[event["cat"].get<std::string>()];
        if (total.is_null()) total = Json::object();
        total["events"] = total.value("events", 0) + 1;
        total["seconds"] = total.value("seconds", 0.0) + event["dur"].get<double>() / 1e6;
        for (const char* key : {"flops", "bytes"})
          total[key] = total.value(key, 0.0) + event["args"][key].get<double>();
        seconds += event["dur"].get<double>() / 1e6;
      }
      put(profile, {{"kind", "step"},
                    {"step", step},
                    {"seconds", seconds},
                    {"hidden_exchange_seconds", 0.003},
                    {"totals", totals}});
    }
    std::ofstream trace(folder / "trace" / fmt::format("rank{}.json", rank));
    for (std::size_t i = 0; i < all.size(); ++i) trace << (i == 0 ? "[\n" : ",\n") << all[i].dump();
    trace << "\n]\n";
  }
}

inline void pictures(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "pictures");
  std::ofstream(folder / "pictures" / "scatter.svg")
      << R"(<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30" viewBox="0 0 40 30"><circle cx="9" cy="9" r="4"/></svg>)";
  std::ofstream(folder / "pictures" / "text.txt") << "Once <upon> a time\n";
  static constexpr unsigned char pixel[] = {
      0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00,
      0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x7e, 0x9b, 0x55, 0x00,
      0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x98, 0x09, 0x00, 0x00, 0x9b, 0x00, 0x9a,
      0xad, 0x2e, 0x48, 0xb4, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
  std::ofstream(folder / "pictures" / "sample.png", std::ios::binary)
      .write(reinterpret_cast<const char*>(pixel), sizeof pixel);
  std::ofstream(folder / "pictures" / "pictures.json") << R"([
 {"kind": "scatter", "title": "Predicted against true", "caption": "8 test samples.", "file": "scatter.svg"},
 {"kind": "sample", "title": "A sample", "caption": "Input & label.", "file": "sample.png"},
 {"kind": "text", "title": "Generated text", "caption": "From the first word.", "file": "text.txt"}])";
}

}  // namespace made

/// Writes the files of a made run into `folder`, which is created if needed.
inline void make_run(const std::filesystem::path& folder, const MadeRun& run = {}) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "recipe.toml") << fmt::format(
      "model = \"cosmoflow(size=32, width=16)\"\noptimizer = \"adam(lr=0.001)\"\n\n[data]\n"
      "train = \"universe(size=32, count={})\"\n\n[train]\nbatch = 4\nepochs = {}\nseed = 1\n",
      4 * run.steps_per_epoch, run.epochs);
  made::lines(folder, run);
  if (run.described) made::run_json(folder, run);
  if (run.traced) made::traces(folder, run);
  if (run.pictures) made::pictures(folder);
}

}  // namespace isobar::report
