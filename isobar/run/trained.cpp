#include "isobar/run/trained.hpp"

#include <algorithm>

#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/parallel/composition.hpp"
#include "isobar/run/models.hpp"
#include "isobar/train/agreement.hpp"

namespace isobar::run {
namespace {

namespace fs = std::filesystem;

checkpoint::CheckpointFile checkpoint_in(const fs::path& what, bool best) {
  if (!fs::is_directory(what)) {
    if (best) fail_usage("--checkpoint best needs the folder of a run; '{}' is not one", what.string());
    return checkpoint::CheckpointFile(what);
  }
  const checkpoint::CheckpointShelf shelf(what);
  if (best) {
    if (!fs::exists(shelf.best_file()))
      fail("run folder '{}' has no best checkpoint: it is written where checkpoint.best names a result", what.string());
    return checkpoint::CheckpointFile(shelf.best_file());
  }
  checkpoint::CheckpointShelf::Found found = shelf.newest_intact();
  if (found.file) {
    for (const std::string& why : found.skipped) fmt::print(stderr, "isobar: not taken: {}\n", one_line(why, 400));
    return std::move(*found.file);
  }
  if (!found.skipped.empty())
    fail("run folder '{}' has no intact checkpoint: {}", what.string(), join(found.skipped, "; "));
  if (fs::exists(what / "recipe.toml"))
    fail(
        "run folder '{}' has no checkpoint yet: one is written at the end, when the run is interrupted, and as the "
        "section [checkpoint] of the recipe says",
        what.string());
  fail("folder '{}' contains no run: it has neither recipe.toml nor checkpoints/step_N.h5", what.string());
}

// A checkpoint is in RUN/checkpoints, or wherever the user has put it.
fs::path run_of(const fs::path& what) {
  if (fs::is_directory(what)) return what;
  const fs::path folder = fs::absolute(what).parent_path();
  return folder.filename() == "checkpoints" ? folder.parent_path() : folder;
}

std::int64_t epochs_of(const Spec& recipe) { return Args(recipe, "recipe").section("train").integer("epochs", 0); }

}  // namespace

std::string Trained::standing() const {
  if (!is_run()) return "";
  const std::int64_t epochs = epochs_of(recipe);
  const bool within = position.step_in_epoch > 0;
  return fmt::format("checkpoint after step {}, {} {} of {}{}", position.step, within ? "within epoch" : "epoch",
                     position.epoch + within, epochs,
                     position.epoch < epochs ? ": the run was stopped or is still running" : "");
}

Trained read_run(const fs::path& what, comm::Comm& comm, bool best) {
  Trained found;
  found.name = what.string();
  found.folder = what;
  std::string text;
  if (comm.rank() == 0) {
    found.checkpoint = std::make_shared<checkpoint::CheckpointFile>(checkpoint_in(what, best));
    found.folder = run_of(what);
    found.position = found.checkpoint->position();
    text = found.checkpoint->recipe();
  }
  broadcast_object(comm, found.position);
  broadcast(comm, text);
  found.recipe = parse_recipe(text, "recipe in " + what.string());
  return found;
}

Trained find_run(const fs::path& what, comm::Comm& comm, bool best) {
  Trained found = read_run(what, comm, best);
  found.model = model_of(found.recipe);
  return found;
}

bool predicts_by_mean(const Trained& trained) {
  if (!trained.is_run()) return false;
  Args recipe(trained.recipe, "recipe");
  const Spec strategy = parallel::read_composition(recipe).strategy;
  return make(parallel::strategies(), strategy, "strategy")->traits().members_apart;
}

writing::Meaning meaning_of(const Spec& loss, const Shape& prediction, const Shape* target) {
  const std::string& name = loss.name();
  if (name == "softmax_cross_entropy" || name == "nll" || name == "focal") return writing::Meaning::classes;
  if (name == "sigmoid_cross_entropy") return writing::Meaning::labels;
  if (!name.empty() || !target || prediction.rank() == 0) return writing::Meaning::numbers;
  const std::int64_t classes = prediction[-1];
  return classes > 1 && target->count() * classes == prediction.count() ? writing::Meaning::classes
                                                                        : writing::Meaning::numbers;
}

}  // namespace isobar::run
