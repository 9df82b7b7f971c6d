// isobar-sim platforms: lists the platforms that come with Isobar; with a name, prints the file, to be copied and
// changed.
#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/sim/platform.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::sim_cli {
namespace {

void show_all() {
  fmt::print("Platforms; 'isobar-sim platforms NAME' prints the file, --platform FILE.toml uses your own.\n");
  for (const std::string& name : sim::platform_names()) {
    const sim::Platform p = sim::read_platform(name);
    fmt::print("\n{}\n  {}\n  {} nodes of {}/s with {} rank{} each, {}/s into the network\n", name, p.summary,
               with_commas(p.nodes), human_flops(p.node.flops_per_second), p.node.ranks, p.node.ranks == 1 ? "" : "s",
               human_bytes(p.network.injection_bytes_per_second));
  }
}

void declare_platforms(CLI::App& command) {
  const auto name = std::make_shared<std::string>();
  command.add_option("NAME", *name, "a platform that comes with Isobar; without it all are listed");
  command.callback([name] {
    if (name->empty()) return show_all();
    fmt::print("{}", sim::platform_text(*name));
  });
}

}  // namespace

extern const Verb platforms_verb;
const Verb platforms_verb{"platforms", "list the machines that are known, or print the file of one", declare_platforms};

}  // namespace isobar::sim_cli
