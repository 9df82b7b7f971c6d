// curves: how a run went, as a picture: curves.svg in its folder, one panel for the loss and one for each metric, over
// epochs. It is drawn anew after every epoch, so that a run can be looked at while it goes on.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isobar/train/events.hpp"

namespace isobar::report {

/// One line of a picture: a value at some epochs, or whatever the panel runs along.
struct Curve {
  std::string name;
  std::vector<double> epochs{}, values{};
  enum class Drawn { whole, line, points } drawn = Drawn::whole;  ///< as a line with its points, or one of them
};

/// Curves that share an axis.
struct Panel {
  std::string title;
  std::vector<Curve> curves{};
  std::string along = "epoch";  ///< what the horizontal axis counts, in whole numbers
};

/// The panels of a run: "loss" with training and test, then a metric each; the parts of a metric (iou, iou.cyclone)
/// share a panel, and a confusion matrix has none.
std::vector<Panel> panels_of(std::span<const train::EpochDone> epochs);

/// A self-contained SVG picture, at most three panels in a row.
std::string curves_svg(std::span<const Panel> panels, std::string_view title = "Loss and metrics over epochs");

/// One panel as a figure of a page, which gives it its colours; the names of the curves and their last values stand
/// below it.
std::string panel_chart(const Panel& panel);

/// Draws curves.svg into the folder named by Start. Resumed, it begins with the epochs in metrics.jsonl, and so must
/// come behind json_lines() in the list of sinks.
std::unique_ptr<train::Sink> curves();

}  // namespace isobar::report
