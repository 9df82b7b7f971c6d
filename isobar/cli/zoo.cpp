// isobar zoo: the networks, their sizes, and their options.
#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/verbs/verb.hpp"
#include "isobar/zoo/arithmetic.hpp"
#include "isobar/zoo/network.hpp"

namespace isobar::cli {
namespace {

void show(const Row<zoo::Network>& row) {
  const auto network = zoo::make_network(Spec(std::string(row.name), {}));
  graph::Graph graph;
  network->build(graph, 1);
  fmt::print("{}\n  {}\n", row.name, row.summary);
  const Shape& batch = graph.value(graph.find("x")).shape;
  const Shape sample(std::vector(batch.extents().begin() + 1, batch.extents().end()));
  fmt::print("  {} parameters, {} forward for a sample of {}\n", with_commas(graph.parameter_count()),
             human_flops(zoo::arithmetic(graph)), sample.str());
  fmt::print("  {}({})\n", row.name, join(describe(row), ", "));
}

void list_networks() {
  fmt::print("Networks, with their defaults. 'isobar plan NAME' shows one step by step.\n");
  for (const Row<zoo::Network>* row : zoo::networks()) {
    fmt::print("\n");
    show(*row);
  }
}

}  // namespace

extern const Verb zoo_verb{"zoo", "list the networks with their parameters, work and arguments",
                           [](CLI::App& command) { command.callback(list_networks); }};

}  // namespace isobar::cli
