// Reads the runs for a calibration from their folders.
#include "isobar/forecast/calibration.hpp"
#include "isobar/parallel/composition.hpp"
#include "isobar/record/run_record.hpp"
#include "isobar/report/scaling.hpp"

namespace isobar::forecast {
namespace {

// What must be equal: the network and the work of its steps. Ranks, batch and strategy may differ.
std::string same_part(const record::RunRecord& run) {
  Args recipe(run.recipe, "recipe");
  return fmt::format("{}, {}", run.model(), recipe.spec("optimizer", Spec()).str());
}

}  // namespace

std::vector<MeasuredRun> read_measured(std::span<const std::filesystem::path> folders) {
  const std::vector<report::ScalingRun> study = report::read_scaling(folders, report::Scaling::weak);
  std::vector<MeasuredRun> runs;
  std::string first;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const record::RunRecord record = record::read_run(folders[i]);
    const std::string part = same_part(record);
    if (i == 0) first = part;
    if (part != first)
      fail("calibrate: '{}' trains {}, '{}' trains {}: runs of one recipe are needed", folders[0].string(), first,
           folders[i].string(), part);
    if (!(study[i].step_seconds > 0)) fail("calibrate: '{}' has no step that took time", folders[i].string());
    Args recipe(record.recipe, "recipe");
    runs.push_back({.ranks = study[i].ranks,
                    .nodes = std::max(1, record.nodes),
                    .batch = static_cast<double>(study[i].global_batch) / study[i].ranks,
                    .step_seconds = study[i].step_seconds,
                    .strategy = parallel::read_composition(recipe, study[i].ranks == 1 ? "solo" : "sync").strategy,
                    .name = folders[i].string()});
  }
  return runs;
}

}  // namespace isobar::forecast
