// isobar list: everything that can be named in a recipe, family by family. A family is one row of the table below.
#include <algorithm>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/codec/codec.hpp"
#include "isobar/comm/schedule.hpp"
#include "isobar/datasets/dataset.hpp"
#include "isobar/feeding/staging.hpp"
#include "isobar/graph/pass.hpp"
#include "isobar/metrics/metric.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/optim/batch_ramp.hpp"
#include "isobar/optim/optimizer.hpp"
#include "isobar/optim/rate_schedule.hpp"
#include "isobar/parallel/strategy.hpp"
#include "isobar/split/split.hpp"
#include "isobar/tensor/initializer.hpp"
#include "isobar/transforms/transform.hpp"
#include "isobar/verbs/verb.hpp"
#include "isobar/zoo/network.hpp"

namespace isobar::cli {
namespace {

struct Member {
  std::string name, summary;
  std::vector<std::string> arguments{};
};

struct Family {
  std::string_view name, summary;
  std::vector<Member> (*members)();
};

template <class R>
std::vector<Member> members_of(Table<R> table) {
  std::vector<Member> list;
  for (const R* row : table) list.push_back({std::string(row->name), std::string(row->summary), describe(*row)});
  return list;
}

std::vector<Member> passes() {
  std::vector<Member> list;
  for (const graph::Pass* pass : graph::passes()) list.push_back({std::string(pass->name), std::string(pass->summary)});
  return list;
}

constexpr Family families[] = {
    {"networks", "model = ... in a recipe", [] { return members_of(zoo::networks()); }},
    {"datasets", "train = ... and test = ... in [data]", [] { return members_of(datasets::datasets()); }},
    {"stagings", "staging = ... in [data]: how samples come near the ranks",
     [] { return members_of(feeding::stagings()); }},
    {"transforms", "transforms = [...] in [data]: what is done to samples; field=NAME in each names another field",
     [] { return members_of(transforms::transforms()); }},
    {"optimizers", "optimizer = ... in a recipe", [] { return members_of(optim::optimizers()); }},
    {"rates", "rate = ... in a recipe: the learning rate over time",
     [] { return members_of(optim::rate_schedules()); }},
    {"ramps", "batch_ramp = ... in [train]: how the batch grows", [] { return members_of(optim::batch_ramps()); }},
    {"metrics", "metrics = [...] in [train]", [] { return members_of(metrics::metrics()); }},
    {"strategies", "strategy = ... in [parallel]: how many processes train together",
     [] { return members_of(parallel::strategies()); }},
    {"splits", "split = ... in [parallel]: how one model is cut over ranks",
     [] { return members_of(split::splits()); }},
    {"codecs", "codec = ... in [parallel]: how numbers travel between ranks",
     [] { return members_of(codec::codecs()); }},
    {"sums", "algorithm = ... of sync and lagged, besides auto, shared and native: how ranks add gradients",
     [] { return members_of(comm::all_reduces()); }},
    {"operators", "what networks are made of; losses are among them", [] { return members_of(ops::operators()); }},
    {"initializers", "how weights start", [] { return members_of(initializers()); }},
    {"passes", "what improves a graph; switched off with 'isobar plan --without NAME'", passes},
};

const Family& find_family(const std::string& name) {
  std::vector<std::string> known;
  for (const Family& family : families) {
    if (family.name == name) return family;
    known.emplace_back(family.name);
  }
  fail_usage("unknown family '{}'{}", name, suggestion(name, known));
}

void show(const Family& family) {
  fmt::print("{}: {}\n", family.name, family.summary);
  for (const Member& member : family.members()) {
    fmt::print("\n  {}", member.name);
    if (!member.arguments.empty()) fmt::print("({})", join(member.arguments, ", "));
    fmt::print("\n      {}\n", member.summary);
  }
}

// Wraps words into indented lines of at most 100 columns.
std::string wrapped(const std::vector<std::string>& words) {
  std::string text, line = " ";
  for (const std::string& word : words) {
    if (line.size() + word.size() + 2 > 100) {
      text += line + "\n";
      line = " ";
    }
    line += " " + word + (&word == &words.back() ? "" : ",");
  }
  return text + line + "\n";
}

void show_all() {
  fmt::print("Families; 'isobar list FAMILY' shows the arguments of each member.\n");
  for (const Family& family : families) {
    std::vector<std::string> names;
    for (const Member& member : family.members()) names.push_back(member.name);
    fmt::print("\n{}: {}\n{}", family.name, family.summary, wrapped(names));
  }
}

void declare_list(CLI::App& command) {
  const auto family = std::make_shared<std::string>();
  command.add_option("FAMILY", *family, "networks, datasets, optimizers, ...; without it all families are listed");
  command.callback([family] { family->empty() ? show_all() : show(find_family(*family)); });
}

}  // namespace

extern const Verb list_verb{"list", "list what can be named in recipes: optimizers, operators, datasets, ...",
                            declare_list};

}  // namespace isobar::cli
