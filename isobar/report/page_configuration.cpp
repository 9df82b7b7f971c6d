// Configuration: how to repeat the run: the command, the recipe with every key, the network and the ranks.
#include <fmt/format.h>

#include "isobar/base/config.hpp"
#include "isobar/base/html_text.hpp"
#include "isobar/base/text.hpp"
#include "isobar/report/html.hpp"
#include "isobar/report/page_section.hpp"

namespace isobar::report {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

void add(Pairs& pairs, const std::string& name, const std::string& value) {
  if (!value.empty()) pairs.emplace_back(name, value);
}

std::string count(std::int64_t number) { return number > 0 ? with_commas(number) : std::string(); }

std::string configuration_html(const PageSource& source) {
  const record::RunRecord& run = source.run;
  Pairs pairs;
  add(pairs, "command", run.command);
  add(pairs, "network", run.model());
  add(pairs, "parameters", count(run.parameters));
  add(pairs, "work", run.flops_per_sample > 0 ? human_flops(run.flops_per_sample) + " per sample" : "");
  for (const auto& [name, shape] : run.inputs) add(pairs, fmt::format("input {}", name), shape);
  add(pairs, "training samples", count(run.train_samples));
  if (run.validation_samples > 0) add(pairs, "validation samples", count(run.validation_samples));
  add(pairs, "test samples", count(run.test_samples));
  add(pairs, "steps per epoch", count(run.steps_per_epoch));
  add(pairs, "batches", run.batching);
  add(pairs, "strategy", run.strategy);
  add(pairs, "plan",
      run.fingerprint.empty() ? "" : fmt::format("{} steps, fingerprint {}", run.plan.size(), run.fingerprint));
  std::string text = html_pairs(pairs);
  if (!run.described)
    text += missing_html("The command and the plan are not known: run.json is missing; runs of this version write it.");
  text += "<h3>Recipe</h3>\n";
  return text + fmt::format("<pre>{}</pre>\n", html_text(write_recipe(run.recipe)));
}

}  // namespace

extern const Section configuration_section{"configuration", "Configuration", configuration_html};

}  // namespace isobar::report
