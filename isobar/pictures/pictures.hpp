// Pictures of what a network does: predicted against true values, confusion matrices, masks over maps, boxes, animated
// weather, generated text. Loss, shapes and data decide which kinds suit a network; there may be none.
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

/// What to draw: a network, the data set it is applied to, and what is already known about both.
struct PictureRequest {
  train::Viewer* viewer = nullptr;          ///< null: draw only from the predictions below
  Spec loss{};                              ///< as in the recipe; empty without one
  std::vector<std::string> target_names{};  ///< of the columns of a regression, or of the classes
  Shape target_shape{};                     ///< of one sample; empty: that of the viewer's data
  std::span<const float> predictions{};     ///< of the whole set, row by row; empty if not kept
  std::span<const float> targets{};         ///< likewise
  std::map<std::string, double> results{};  ///< loss and metrics on the set
  std::int64_t most_passes = 20;            ///< forward passes of all pictures together
  double most_seconds = 20;                 ///< after which no further pass begins
};

/// Draws the pictures that suit into `folder`, which it creates, and lists them in pictures.json: [{kind, title,
/// caption, file}]. A kind that fails is skipped with a warning on stderr; a folder that cannot be written is an Error.
std::vector<Picture> draw_pictures(const std::filesystem::path& folder, const PictureRequest& request);

/// Draws into `pictures` of the run folder when a run has finished. Errors become warnings: pictures never fail a run.
std::unique_ptr<train::Sink> pictures();

class Subject;

/// A kind of picture.
struct PictureKind {
  std::string_view name;     ///< as in pictures.json
  std::string_view summary;  ///< what it shows
  bool (*fits)(const Subject&);
  /// Writes files into a folder and describes them; file names do not include the folder.
  std::vector<Picture> (*draw)(Subject&, const std::filesystem::path& folder);
};

Table<PictureKind> picture_kinds();

}  // namespace isobar::pictures
