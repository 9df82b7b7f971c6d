// Recipes: a TOML file read into one tree of Specs. The root is called "recipe", a table becomes a nested Spec with the
// table's name, and text stays quoted text, so that `optimizer = "adam(lr=1e-3)"` is read with Args::spec().
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "isobar/base/spec.hpp"

namespace isobar {

/// Reads a recipe file; a missing file or wrong syntax is a UsageError naming file:line:column.
Spec read_recipe(const std::filesystem::path& file);

/// Reads the text of a recipe, with keys in the order written; messages name `origin` in place of a file.
Spec parse_recipe(std::string_view text, std::string_view origin);

/// Carries out `--set train.epochs=3`: missing sections are created, and `optimizer.lr=0.1` sets an argument within a
/// text value. Anything that is not a TOML value counts as text, so `model=cosmoflow(size=32)` needs no quotes.
void apply_setting(Spec& recipe, std::string_view assignment);

/// The recipe as TOML; reading it back gives an equal recipe. Bare words and Specs that are not sections become text.
std::string write_recipe(const Spec& recipe);

}  // namespace isobar
