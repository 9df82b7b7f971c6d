#include "isobar/parallel/composition.hpp"

#include "isobar/parallel/slowed.hpp"

namespace isobar::parallel {

Composition read_composition(Args& recipe, const Spec& otherwise) {
  const bool at_top = recipe.has("strategy");
  Args section = recipe.section("parallel");
  Composition read{section.spec("split", "none")};
  section.require(!(at_top && section.has("strategy")),
                  "strategy is named at the top of the recipe too; it is needed once");
  read.strategy = at_top ? recipe.spec("strategy") : section.spec("strategy", otherwise);
  const bool named = section.has("codec");
  const Spec codec = section.spec("codec", "float");
  section.require(!named || (!read.strategy.find("codec") && !read.strategy.find("wire")),
                  "codec is an argument of the strategy too; it is needed once");
  if (named) read.strategy.set("codec", codec);
  read.slow = section.text("slow", "");
  read_slow_ranks(read.slow);
  section.finish();
  return read;
}

void record_composition(Args& recipe, const Composition& resolved) {
  Spec strategy(resolved.strategy.name(), {}), section("parallel");
  for (const auto& [key, value] : resolved.strategy.arguments())
    if (key != "codec") strategy.set(key, value);
  section.set("split", resolved.split);
  if (recipe.has("strategy")) recipe.record("strategy", strategy);
  else section.set("strategy", strategy);
  if (const Value* codec = resolved.strategy.find("codec")) section.set("codec", *codec);
  if (!resolved.slow.empty()) section.set("slow", resolved.slow);
  recipe.record("parallel", section);
}

}  // namespace isobar::parallel
