#include "isobar/train/same_run.hpp"

#include <fmt/format.h>

#include "isobar/base/instructions.hpp"
#include "isobar/tensor/engine.hpp"

namespace isobar::train {
namespace {

// A table of a recipe is a Spec of its key's name; everything else is a value.
void add_recipe(const std::string& path, const Spec& spec, std::vector<Fact>& facts) {
  for (const auto& [key, value] : spec.arguments()) {
    const std::string name = path.empty() ? key : path + "." + key;
    const auto* inner = std::get_if<std::shared_ptr<const Spec>>(&value.held);
    if (inner && !value.quoted && (*inner)->name() == key) add_recipe(name, **inner, facts);
    else facts.push_back({fmt::format("recipe key '{}'", name), value.str()});
  }
}

}  // namespace

std::vector<Fact> facts_of(const Job& job) {
  std::vector<Fact> facts;
  add_recipe("", job.recipe, facts);
  facts.push_back({"the level of instructions (ISOBAR_INSTRUCTIONS caps it)", std::string(name_of(instructions()))});
  facts.push_back({"what oneDNN uses of the processor", isa_choice().name});
  facts.push_back({"--resume", job.resume ? "given" : "not given"});
  facts.push_back({"the number of samples in data.train", fmt::format("{}", job.train_data->size())});
  if (job.test_data) facts.push_back({"the number of samples in data.test", fmt::format("{}", job.test_data->size())});
  if (job.validation.exists())
    facts.push_back({"the number of samples in data.validation", fmt::format("{}", job.validation.data->size())});
  return facts;
}

std::vector<Fact> facts_of(const graph::Plan& plan) {
  std::vector<Fact> facts;
  for (const graph::LayerText& layer : plan.layers())
    facts.push_back({fmt::format("layer '{}' of the plan", layer.name), layer.text});
  return facts;
}

}  // namespace isobar::train
