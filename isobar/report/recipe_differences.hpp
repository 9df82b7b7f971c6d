// Differences between recipes, key by key: what was varied between runs.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "isobar/base/spec.hpp"

namespace isobar::report {

/// A key and its value in each recipe; "" where a recipe lacks it.
struct Difference {
  std::string key;
  std::vector<std::string> values;
};

/// The text of one value, "" if it is missing; an empty section means the top level of the recipe.
std::string recipe_text(const Spec& recipe, std::string_view section, std::string_view key);

/// A recipe as keys and values: optimizer=adam, optimizer.lr=0.001, data.batch=4.
std::map<std::string, std::string> flat_recipe(const Spec& recipe);

/// The keys whose values differ between recipes, except folders and reporting.
std::vector<Difference> recipe_differences(std::span<const Spec> recipes);

}  // namespace isobar::report
