#include "isobar/train/trained.hpp"

#include <algorithm>

#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/train/agreement.hpp"

namespace isobar::train {
namespace {

namespace fs = std::filesystem;

CheckpointFile checkpoint_in(const fs::path& what, bool best) {
  if (!fs::is_directory(what)) {
    if (best) fail_usage("--checkpoint best needs the folder of a run; '{}' is none", what.string());
    return CheckpointFile(what);
  }
  const CheckpointShelf shelf(what);
  if (best) {
    if (!fs::exists(shelf.best_file()))
      fail("run folder '{}' has no best checkpoint: it is written where checkpoint.best names a result", what.string());
    return CheckpointFile(shelf.best_file());
  }
  CheckpointShelf::Found found = shelf.newest_intact();
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
  fail("folder '{}' holds no run: there is neither recipe.toml nor checkpoints/step_N.h5", what.string());
}

// A checkpoint lies in RUN/checkpoints, or wherever somebody has put it.
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
                     position.epoch < epochs ? ": the run was stopped or still goes on" : "");
}

Trained find_run(const fs::path& what, const ModelMaker& make_model, comm::Comm& comm, bool best) {
  Trained found;
  found.name = what.string();
  found.folder = what;
  std::string text;
  if (comm.rank() == 0) {
    found.checkpoint = std::make_shared<CheckpointFile>(checkpoint_in(what, best));
    found.folder = run_of(what);
    found.position = found.checkpoint->position();
    text = found.checkpoint->recipe();
  }
  broadcast_object(comm, found.position);
  broadcast(comm, text);
  found.recipe = parse_recipe(text, "recipe in " + what.string());
  Args recipe(found.recipe, "recipe");
  found.model = make_model(recipe.spec("model"), recipe.has("loss") ? recipe.spec("loss") : Spec());
  return found;
}

data::Meaning meaning_of(const Spec& loss, const Shape& prediction, const Shape* target) {
  const std::string& name = loss.name();
  if (name == "softmax_cross_entropy" || name == "nll" || name == "focal") return data::Meaning::classes;
  if (name == "sigmoid_cross_entropy") return data::Meaning::labels;
  if (!name.empty() || !target || prediction.rank() == 0) return data::Meaning::numbers;
  const std::int64_t classes = prediction[-1];
  return classes > 1 && target->count() * classes == prediction.count() ? data::Meaning::classes
                                                                        : data::Meaning::numbers;
}

data::Squash squash_of(const Spec& loss) {
  const std::string& name = loss.name();
  if (name == "softmax_cross_entropy" || name == "focal") return data::Squash::softmax;
  if (name == "nll") return data::Squash::exponential;
  return name == "sigmoid_cross_entropy" ? data::Squash::sigmoid : data::Squash::none;
}

}  // namespace isobar::train
