#include "isobar/report/card_facts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/report/recipe_differences.hpp"

namespace isobar::report {
namespace {

// Quoted for a shell.
std::string quoted(const std::string& text) {
  const auto plain = [](unsigned char c) {
    return (c < 128 && std::isalnum(c)) ||
           std::string_view("/._-+,:=@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string launcher(const record::RunRecord& run) {
  return run.ranks > 1 ? fmt::format("mpiexec -n {} isobar train ", run.ranks) : "isobar train ";
}

}  // namespace

CardFacts::CardFacts(const record::RunRecord& of)
    : run(of),
      ledger(read_ledger(of.folder)),
      siblings(siblings_of(of)),
      evaluations(evaluations_of(of, ledger)),
      judging(judging_evaluations_of(of, ledger)),
      judged(judged_by(of, evaluations)),
      reference(reference_of(of.model_name())),
      target(target_of(of)) {}

std::string CardFacts::ending() const {
  const std::string bad = run.bad.steps > 0 ? fmt::format(" ({})", run.bad.str()) : "";
  if (run.reason == "finished") return bad;
  const std::int64_t last = run.steps.empty() ? 0 : run.steps.back().step;
  if (run.reason == "interrupted") return fmt::format(" (interrupted after step {}){}", with_commas(last), bad);
  return fmt::format(" (not ended: running or killed, recorded up to step {}){}", with_commas(last), bad);
}

std::string CardFacts::result() const {
  const Evaluation& last = evaluations.back();
  const auto value = last.values.find(judged);
  const std::string number = value == last.values.end() ? "?" : fmt::format("{:.4g}", value->second);
  return fmt::format("test {} {} after epoch {}", judged, number, last.epoch);
}

std::string CardFacts::told(double samples_per_second) const {
  return told_speed(samples_per_second) + (run.teams > 1 ? " on rank 0" : "");
}

std::string CardFacts::setting(std::string_view section, std::string_view key) const {
  return recipe_text(run.recipe, section, key);
}

bool CardFacts::reads_files() const { return setting("data", "train").find("path=") != std::string::npos; }

std::string CardFacts::not_comparable() const {
  if (!reference) return fmt::format("no published result of network '{}' is known here", run.model_name());
  if (run.inputs.empty()) return "the size of a sample is not recorded (no run.json)";
  if (!reference->input.empty() && run.inputs[0].second != reference->input)
    return fmt::format("samples are {}, those of {} {}", run.inputs[0].second, reference->task, reference->input);
  if (reference->parameters > 0 && run.parameters != reference->parameters)
    return fmt::format("the network has {} parameters, the published one {}", with_commas(run.parameters),
                       with_commas(reference->parameters));
  if (!reads_files())
    return fmt::format("the samples are generated ({}), not those of {}", one_line(setting("data", "train"), 60),
                       reference->task);
  if (reference->train_samples > 0 && 2 * run.train_samples < reference->train_samples)
    return fmt::format("it has {} training samples, {} has {}", with_commas(run.train_samples), reference->task,
                       with_commas(reference->train_samples));
  return "";
}

std::string CardFacts::again(const std::string& settings) const {
  const std::string folder = run.folder.string();
  return fmt::format("`{}{} --set folder={}{}{}`", launcher(run), quoted((run.folder / "recipe.toml").string()),
                     quoted(folder + "-again"), settings.empty() ? "" : " ", settings);
}

std::string CardFacts::to_its_end() const {
  std::error_code none;
  if (!std::filesystem::exists(run.folder / "checkpoints", none)) return again("");
  return fmt::format("`{}{} --resume`", launcher(run), quoted((run.folder / "recipe.toml").string()));
}

}  // namespace isobar::report
