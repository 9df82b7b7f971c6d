// Pictures of what a network does: predicted against true, who is taken for whom, masks over maps, boxes, weather that
// moves, generated text. Which of them suit is decided from loss, shapes and data; a network none suits gets none.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isobar/base/row.hpp"
#include "isobar/pictures/picture.hpp"
#include "isobar/train/events.hpp"

namespace isobar::pictures {

/// What pictures are drawn of: a network, the set it is shown on, and what is already known about the two.
struct PictureRequest {
  train::Viewer* viewer = nullptr;          ///< null: only what can be drawn from the predictions below
  Spec loss{};                              ///< as the recipe has it; empty when there is none
  std::vector<std::string> target_names{};  ///< of the columns of a regression, or of the classes
  Shape target_shape{};                     ///< of one sample; taken from the viewer's data when it is empty
  std::span<const float> predictions{};     ///< of the whole set, row by row; empty when they were not kept
  std::span<const float> targets{};         ///< likewise
  std::map<std::string, double> results{};  ///< loss and metrics on the set
  std::int64_t most_passes = 20;            ///< forward passes of pictures, all together
  double most_seconds = 20;                 ///< after which no further pass begins
};

/// Draws what suits into `folder`, which is made, and lists it in pictures.json: [{kind, title, caption, file}]. A kind
/// that fails is left out with a warning on stderr; a folder that cannot be written is an Error.
std::vector<Picture> draw_pictures(const std::filesystem::path& folder, const PictureRequest& request);

/// Draws into `pictures` of the run folder when a run has finished. Never fails a run: what goes wrong is a warning.
std::unique_ptr<train::Sink> pictures();

class Subject;

/// A kind of picture.
struct PictureKind {
  std::string_view name;     ///< as pictures.json has it
  std::string_view summary;  ///< what it shows
  bool (*fits)(const Subject&);
  /// Writes files into a folder and tells about them; files are named without the folder.
  std::vector<Picture> (*draw)(Subject&, const std::filesystem::path& folder);
};

Table<PictureKind> picture_kinds();

}  // namespace isobar::pictures
