#include "isobar/report/recipe_differences.hpp"

#include <algorithm>
#include <set>

#include "isobar/base/error.hpp"

namespace isobar::report {
namespace {

using Flat = std::map<std::string, std::string>;

void flatten(Flat& flat, const std::string& key, const Value& value);

void flatten(Flat& flat, const std::string& key, const Spec& spec) {
  for (const auto& [name, value] : spec.arguments()) flatten(flat, key + "." + name, value);
}

void flatten(Flat& flat, const std::string& key, const Value& value) {
  const auto* held = std::get_if<std::shared_ptr<const Spec>>(&value.held);
  if (!held) {
    flat[key] = value.str();
    return;
  }
  if (!value.quoted) {
    const bool section = !(*held)->arguments().empty() && key.ends_with((*held)->name());
    if (!section) flat[key] = (*held)->name();
    return flatten(flat, key, **held);
  }
  const std::string& text = (*held)->name();
  try {
    const Spec spec(text);
    flat[key] = spec.name();
    flatten(flat, key, spec);
  } catch (const Error&) {
    flat[key] = text;  // a path, or any other text
  }
}

}  // namespace

std::string recipe_text(const Spec& recipe, std::string_view section, std::string_view key) {
  const Spec* from = &recipe;
  if (!section.empty()) {
    const Value* found = recipe.find(section);
    const auto* held = found ? std::get_if<std::shared_ptr<const Spec>>(&found->held) : nullptr;
    if (!held) return "";
    from = held->get();
  }
  const Value* value = from->find(key);
  if (!value) return "";
  const auto* text = std::get_if<std::shared_ptr<const Spec>>(&value->held);
  if (!text) return value->str();
  return value->quoted ? (*text)->name() : (*text)->str();
}

std::map<std::string, std::string> flat_recipe(const Spec& recipe) {
  Flat flat;
  for (const auto& [name, value] : recipe.arguments())
    if (name != "folder" && name != "report") flatten(flat, name, value);
  return flat;
}

std::vector<Difference> recipe_differences(std::span<const Spec> recipes) {
  std::vector<Flat> flats;
  std::set<std::string> keys;
  for (const Spec& recipe : recipes) {
    flats.push_back(flat_recipe(recipe));
    for (const auto& [key, value] : flats.back()) keys.insert(key);
  }
  std::vector<Difference> differences;
  for (const std::string& key : keys) {
    Difference difference{key, {}};
    for (const Flat& flat : flats) difference.values.push_back(flat.contains(key) ? flat.at(key) : "");
    const auto& values = difference.values;
    if (!std::ranges::all_of(values, [&](const std::string& value) { return value == values[0]; }))
      differences.push_back(std::move(difference));
  }
  return differences;
}

}  // namespace isobar::report
