#include "isobar/sim/platform.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/sim/network_shape.hpp"
#include "isobar/sim/platform_texts.hpp"

namespace isobar::sim {

namespace {

constexpr double giga = 1e9, micro = 1e-6, milli = 1e-3;
constexpr int most = 1'000'000;

/// A table of the file: numbers in people's units, checked, in units of the model.
class Section {
 public:
  explicit Section(Args args) : args_(std::move(args)) {}

  double positive(std::string_view key, double unit) {
    const double value = args_.real(key);
    check(std::isfinite(value) && value > 0, key, value, "a number above 0");
    return value * unit;
  }
  double positive(std::string_view key, double unit, double otherwise) {
    if (args_.has(key)) return positive(key, unit);
    args_.real(key, otherwise / unit);
    return otherwise;
  }
  double not_negative(std::string_view key, double unit) {
    const double value = args_.real(key);
    check(std::isfinite(value) && value >= 0, key, value, "a number of at least 0");
    return value * unit;
  }
  double not_negative(std::string_view key, double unit, double otherwise) {
    return args_.has(key) ? not_negative(key, unit) : args_.real(key, otherwise) * unit;
  }
  /// A part of one; zero only where it makes sense.
  double part(std::string_view key, double otherwise, bool zero) {
    const double value = args_.real(key, otherwise);
    check(value <= 1 && (zero ? value >= 0 : value > 0), key, value, zero ? "from 0 to 1" : "above 0 and at most 1");
    return value;
  }
  int count(std::string_view key) {
    const std::int64_t value = args_.integer(key);
    check(value >= 1 && value <= most, key, value, fmt::format("a whole number from 1 to {}", with_commas(most)));
    return value;
  }
  int count(std::string_view key, int otherwise) { return args_.has(key) ? count(key) : args_.integer(key, otherwise); }
  /// A list that only some kinds of network have.
  std::vector<std::int64_t> list(std::string_view key, bool wanted, std::vector<std::int64_t> otherwise,
                                 std::string_view kind) {
    if (!wanted && args_.has(key)) fail_usage("{}: a {} has no '{}'", args_.subject(), kind, key);
    return args_.integers(key, std::move(otherwise));
  }

  Args& args() { return args_; }

 private:
  void check(bool condition, std::string_view key, double value, std::string_view valid) const {
    if (!condition) fail_usage("{}: {} = {} is not {}", args_.subject(), key, value, valid);
  }

  Args args_;
};

NodeModel read_node(Section section) {
  NodeModel node;
  node.flops_per_second = section.positive("gflops", giga);
  node.cores = section.count("cores");
  node.ranks = section.count("ranks", 1);
  node.memory_bytes_per_second = section.positive("memory_gb_s", giga);
  node.sum_bytes_per_second = section.positive("sum_gb_s", giga, node.memory_bytes_per_second);
  node.inside_bytes_per_second = section.positive("inside_gb_s", giga);
  node.inside_latency = section.not_negative("inside_us", micro);
  node.storage_bytes_per_second = section.not_negative("storage_gb_s", giga, 0);
  section.args().finish();
  return node;
}

NetworkModel::Kind read_kind(Args& args) {
  using Kind = NetworkModel::Kind;
  args.text("kind");  // there is no kind that a file could leave out
  const std::string word = args.one_of("kind", "", {"crossbar", "fat_tree", "dragonfly", "torus"});
  for (const Kind kind : {Kind::fat_tree, Kind::dragonfly, Kind::torus})
    if (word == kind_name(kind)) return kind;
  return Kind::crossbar;
}

NetworkModel read_network(Section section, int nodes) {
  using Kind = NetworkModel::Kind;
  NetworkModel network;
  network.kind = read_kind(section.args());
  const std::string_view kind = kind_name(network.kind);
  network.shape = section.list("shape", network.kind != Kind::crossbar, {}, kind);
  network.up = section.list("up", network.kind == Kind::fat_tree, {}, kind);
  const bool bundles = network.kind == Kind::fat_tree || network.kind == Kind::dragonfly;
  const std::size_t levels = network.kind == Kind::dragonfly ? 3 : network.shape.size();
  network.parallel = section.list("parallel", bundles, std::vector<std::int64_t>(bundles ? levels : 0, 1), kind);
  network.link_bytes_per_second = section.positive("link_gb_s", giga);
  network.injection_bytes_per_second = section.positive("injection_gb_s", giga, network.link_bytes_per_second);
  network.latency = section.not_negative("latency_us", micro);
  network.hop_latency = section.not_negative("hop_us", micro, 0);
  network.message_overhead = section.not_negative("message_us", micro, 0);
  network.core_seconds_per_byte = section.not_negative("core_s_per_gb", 1 / giga, 0);
  network.efficiency = section.part("efficiency", 1, false);
  section.args().finish();
  if (const std::string problem = shape_problem(network, nodes); !problem.empty())
    fail_usage("{}: {}", section.args().subject(), problem);
  return network;
}

StorageModel read_storage(Section section) {
  StorageModel storage;
  storage.bytes_per_second = section.positive("gb_s", giga);
  storage.client_bytes_per_second = section.positive("client_gb_s", giga);
  section.args().finish();
  return storage;
}

NoiseModel read_noise(Section section) {
  NoiseModel noise;
  noise.sigma = section.part("sigma", 0, true);
  noise.straggler_probability = section.part("straggler_probability", 0, true);
  noise.straggler_seconds = section.not_negative("straggler_ms", milli, 0);
  section.args().finish();
  return noise;
}

FailureModel read_failures(Section section) {
  FailureModel failures;
  failures.node_hours = section.positive("node_hours", 1);
  failures.restart_seconds = section.not_negative("restart_s", 1);
  section.args().finish();
  return failures;
}

Platform read(const Spec& spec, std::string_view origin) {
  Section all(Args(spec, "recipe"));
  Args& args = all.args();
  Platform platform;
  platform.name = args.text("name", std::filesystem::path(origin).stem().string());
  platform.summary = args.text("summary", "");
  platform.nodes = all.count("nodes");
  platform.shared_cores = all.count("shared_cores", 0);
  platform.node = read_node(Section(args.section("node")));
  platform.network = read_network(Section(args.section("network")), platform.nodes);
  const auto if_there = [&](std::string_view key, auto read_section, auto& into) {
    const bool there = args.has(key);
    Args read = args.section(key);  // also where it is absent, so that it is known
    if (there) into = read_section(Section(std::move(read)));
  };
  if_there("file_system", read_storage, platform.file_system);
  if_there("burst_buffer", read_storage, platform.burst_buffer);
  if_there("noise", read_noise, platform.noise);
  if_there("failures", read_failures, platform.failures);
  args.finish();
  return platform;
}

}  // namespace

Platform parse_platform(std::string_view text, std::string_view origin) {
  const Spec spec = parse_recipe(text, origin);
  try {
    return read(spec, origin);
  } catch (const UsageError& error) {
    std::string_view message = error.what();
    if (message.starts_with("recipe: ")) message.remove_prefix(8);  // what is read with Args is called so
    fail_usage("platform {}: {}", origin, message);
  }
}

Platform read_platform(const std::string& name_or_file) {
  const std::vector<std::string> names = platform_names();
  for (const PlatformText& shipped : platform_texts())
    if (shipped.name == name_or_file) return parse_platform(shipped.text, shipped.name);
  std::error_code ignored;
  if (std::filesystem::is_directory(name_or_file, ignored))
    fail_usage("platform '{}' is a directory; a TOML file or one of {} is needed", name_or_file, join(names, ", "));
  std::ifstream stream(name_or_file, std::ios::binary);
  if (!stream)
    fail_usage("platform '{}' is neither a file that can be opened nor shipped{}", name_or_file,
               suggestion(name_or_file, names));
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (stream.bad()) fail("platform '{}' could not be read to its end", name_or_file);
  return parse_platform(text, name_or_file);
}

std::vector<std::string> platform_names() {
  std::vector<std::string> names;
  for (const PlatformText& shipped : platform_texts()) names.emplace_back(shipped.name);
  return names;
}

std::string_view platform_text(std::string_view name) {
  for (const PlatformText& shipped : platform_texts())
    if (shipped.name == name) return shipped.text;
  const std::vector<std::string> names = platform_names();
  fail_usage("unknown platform '{}'{}", name, suggestion(name, names));
}

}  // namespace isobar::sim
