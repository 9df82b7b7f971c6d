#include "isobar/train/trained.hpp"

#include <algorithm>

#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/train/agreement.hpp"

namespace isobar::train {
namespace {

namespace fs = std::filesystem;

fs::path checkpoint_in(const fs::path& what) {
  if (!fs::is_directory(what)) return what;
  const fs::path file = what / "checkpoint.h5";
  if (fs::exists(file)) return file;
  if (fs::exists(what / "recipe.toml"))
    fail(
        "run folder '{}' has no checkpoint yet: one is written at the end, when the run is interrupted, and after "
        "every train.checkpoint_every epochs",
        what.string());
  fail("folder '{}' holds no run: there is neither recipe.toml nor checkpoint.h5", what.string());
}

std::string shared_text(comm::Comm& comm, const std::string& mine) {
  const auto raw = std::as_bytes(std::span(mine));
  comm::Bytes bytes(raw.begin(), raw.end());
  comm::broadcast(comm, bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
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

Trained find_run(const fs::path& what, const ModelMaker& make_model, comm::Comm& comm) {
  Trained found;
  found.name = what.string();
  CheckpointHead head;
  if (comm.rank() == 0) {
    found.checkpoint = checkpoint_in(what);
    head = read_checkpoint_head(found.checkpoint);
  } else {
    found.checkpoint = what;
  }
  share_object(comm, head.position);
  found.position = head.position;
  found.recipe = parse_recipe(shared_text(comm, head.recipe), "recipe in " + what.string());
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
