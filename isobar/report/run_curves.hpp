// The course of a run as curves over steps, samples or seconds, for charts that show several runs.
#pragma once

#include <span>
#include <string>

#include "isobar/report/curves.hpp"
#include "isobar/report/quality.hpp"

namespace isobar::report {

/// What a horizontal axis counts.
struct Along {
  const char* name;
  double (*of_step)(const record::RunRecord&, double before, const record::StepRecord&);
  double (*of_evaluation)(const record::RunRecord&, const Evaluation&);
};

/// Where teams go at their own pace, samples are those of all teams, as if all were as far as the first.
extern const Along along_steps, along_samples, along_seconds;

/// The training loss; if there are many steps, as means over equal numbers of steps.
Curve loss_curve(const std::string& name, const record::RunRecord& run, const Along& along);
/// A result of the evaluations.
Curve result_curve(const std::string& name, const record::RunRecord& run, std::span<const Evaluation> evaluations,
                   const std::string& metric, const Along& along);

/// A few seconds become milliseconds and many samples thousands, so that the axis shows short whole numbers. Returns
/// whether there is anything to draw.
bool choose_unit(Panel& panel);

}  // namespace isobar::report
