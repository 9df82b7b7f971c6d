// curves: the course of a run as a picture: curves.svg in its folder, one panel for the loss and one for each metric,
// over epochs. It is redrawn after every epoch, so that it can be viewed during the run.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isobar/train/events.hpp"

namespace isobar::report {

/// One line of a panel: values at some epochs, or along whatever the horizontal axis counts.
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

/// The panels of a run: "loss" with training and test, then one for each metric; the parts of a metric (iou,
/// iou.cyclone) share a panel, and a confusion matrix has no panel.
std::vector<Panel> panels_of(std::span<const train::EpochDone> epochs);

/// A self-contained SVG picture, at most three panels in a row.
std::string curves_svg(std::span<const Panel> panels, std::string_view title = "Loss and metrics over epochs");

/// One panel as a figure in the colours of a page; the names of the curves and their last values are listed below it.
std::string panel_chart(const Panel& panel);

/// Draws curves.svg into the folder named by Start. In a resumed run it begins with the epochs in metrics.jsonl, and so
/// must come after json_lines() in the list of sinks.
std::unique_ptr<train::Sink> curves();

}  // namespace isobar::report
