// Rows of the run card about the setting: the hardware and its age, the size of the problem, the kind of scaling.
#include <cstdlib>

#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/report/card_facts.hpp"
#include "isobar/report/processor_family.hpp"
#include "isobar/report/scaling.hpp"

namespace isobar::report {
namespace {

std::string entry(const std::vector<std::pair<std::string, std::string>>& pairs, std::string_view name) {
  for (const auto& [key, value] : pairs)
    if (key == name) return value;
  return "";
}

// The number of values in "128x128x128x4"; 0 if it is not a shape.
double values_in(std::string_view shape) {
  double product = 1;
  for (std::size_t begin = 0; begin <= shape.size();) {
    const std::size_t end = std::min(shape.find('x', begin), shape.size());
    const std::string extent(shape.substr(begin, end - begin));
    product *= std::strtod(extent.c_str(), nullptr);
    begin = end + 1;
  }
  return product;
}

// Samples per second; 0 if the run no longer exists: it may be removed at any moment.
double speed_in(const std::filesystem::path& folder) {
  try {
    return record::read_run(folder).samples_per_second();
  } catch (const std::exception&) {
    return 0;
  }
}

std::string plural(int count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

}  // namespace

CardFinding hardware(const CardFacts& facts) {
  const record::RunRecord& run = facts.run;
  const std::string processor = entry(run.machine, "processor");
  if (processor.empty()) return not_shown("the processor is not recorded (no run.json): " + facts.again(""));
  std::string year = facts.setting("report", "processor_year");
  std::string family;
  if (year.empty() || year == "0") {
    const auto known = processor_family(processor, entry(run.machine, "processor numbers"));
    if (!known)
      return not_shown(fmt::format("'{}' ran it; its year is not known here: {}", processor,
                                   facts.again("--set report.processor_year=...")));
    year = std::to_string(known->year);
    family = known->name + ", ";
  }
  std::string figure = fmt::format("{} ({}{}), {} of {} on {}", processor, family, year, plural(run.ranks, "rank"),
                                   plural(run.threads, "thread"), plural(run.nodes, "node"));
  if (!run.changes.empty())
    figure += fmt::format("; its members changed {} while it ran, the last time: {}",
                          plural(std::ssize(run.changes), "time"), run.changes.back().str());
  return shown(figure);
}

CardFinding input_size(const CardFacts& facts) {
  const record::RunRecord& run = facts.run;
  if (run.inputs.empty()) return not_shown("the size of a sample is not recorded (no run.json): " + facts.again(""));
  const std::string& shape = run.inputs[0].second;
  if (!facts.reference || facts.reference->input.empty())
    return not_shown(
        fmt::format("samples are {}; no standard size of network '{}' is known here, so say beside the "
                    "figures what is usual for the task",
                    shape, run.model_name()));
  const Reference& reference = *facts.reference;
  std::string figure = shape == reference.input ? fmt::format("{}, the size of {}", shape, reference.task)
                                                : fmt::format("{}, {:.3g} % of the values of a sample of {}, {}", shape,
                                                              100 * values_in(shape) / values_in(reference.input),
                                                              reference.task, reference.input);
  if (reference.parameters > 0 && run.parameters > 0)
    figure += run.parameters == reference.parameters
                  ? fmt::format("; the published network of {} parameters", with_commas(run.parameters))
                  : fmt::format("; {} parameters, the published network has {}", with_commas(run.parameters),
                                with_commas(reference.parameters));
  if (run.train_samples > 0) figure += fmt::format("; {} training samples", with_commas(run.train_samples));
  if (run.train_samples > 0 && reference.train_samples > 0)
    figure += fmt::format(" (there {})", with_commas(reference.train_samples));
  return shown(figure);
}

CardFinding scaling_kind(const CardFacts& facts) {
  const record::RunRecord& run = facts.run;
  std::string setting = plural(run.ranks, "rank");
  if (run.global_batch > 0) setting += fmt::format(", global batch {}", run.global_batch);
  const Sibling* base = nullptr;
  std::optional<Scaling> kind;
  for (const Sibling& sibling : facts.siblings.runs) {
    if (sibling.ledger.setups.empty() || sibling.ledger.steps == 0) continue;
    const Setup& theirs = sibling.ledger.setups.back();
    if (theirs.ranks == run.ranks || (base && theirs.ranks >= base->ledger.setups.back().ranks)) continue;
    if (!same_but_batch(sibling.recipe, run.recipe)) continue;
    const auto found = scaling_between({theirs.ranks, theirs.global_batch}, {run.ranks, run.global_batch});
    if (found) base = &sibling, kind = found;
  }
  if (!base || !facts.timed())
    return not_shown(fmt::format(
        "one run with {} says nothing about scaling: `isobar scale {} --ranks 1,2 --mode strong` (or weak), or runs of "
        "this recipe on other numbers of ranks beside it",
        setting, (run.folder / "recipe.toml").string()));
  const Setup& theirs = base->ledger.setups.back();
  const double own = run.samples_per_second() / run.ranks;
  const double other = speed_in(base->folder) / theirs.ranks;
  if (other <= 0) return not_shown(fmt::format("the run in '{}' has no speed", base->folder.string()));
  // Relative to whichever of the two runs has fewer ranks.
  const bool more = run.ranks > theirs.ranks;
  return shown(fmt::format(
      "{} scaling from {} (global batch {}) to {} (global batch {}): efficiency {:.1f} %, with the run in {}",
      *kind == Scaling::strong ? "strong" : "weak", plural(more ? theirs.ranks : run.ranks, "rank"),
      more ? theirs.global_batch : run.global_batch, plural(more ? run.ranks : theirs.ranks, "rank"),
      more ? run.global_batch : theirs.global_batch, 100 * (more ? own / other : other / own),
      base->folder.filename().string()));
}

}  // namespace isobar::report
