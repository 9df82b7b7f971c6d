#include "isobar/report/scaling_kind.hpp"

namespace isobar::report {
namespace {

Spec without_batch(const Spec& recipe) {
  std::vector<std::pair<std::string, Value>> kept;
  for (const auto& [key, value] : recipe.arguments()) {
    if (key == "folder" || key == "report") continue;
    const auto* section = std::get_if<std::shared_ptr<const Spec>>(&value.held);
    if (key != "data" || !section) {
      kept.emplace_back(key, value);
      continue;
    }
    std::vector<std::pair<std::string, Value>> data;
    for (const auto& [name, setting] : (*section)->arguments())
      if (name != "batch" && name != "batch_per_rank") data.emplace_back(name, setting);
    kept.emplace_back(key, Spec("data", std::move(data)));
  }
  return Spec(recipe.name(), std::move(kept));
}

}  // namespace

std::optional<Scaling> scaling_between(const Spread& a, const Spread& b) {
  if (a.ranks == b.ranks || a.global_batch <= 0 || b.global_batch <= 0) return std::nullopt;
  if (a.global_batch == b.global_batch) return Scaling::strong;
  if (a.global_batch * b.ranks == b.global_batch * a.ranks) return Scaling::weak;
  return std::nullopt;
}

std::optional<Scaling> scaling_of(std::span<const Spread> runs) {
  std::optional<Scaling> kind;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const auto found = scaling_between(runs[0], runs[i]);
    if (!found || (kind && *kind != *found)) return std::nullopt;
    kind = found;
  }
  return kind;
}

bool same_but_batch(const Spec& a, const Spec& b) { return without_batch(a) == without_batch(b); }

}  // namespace isobar::report
