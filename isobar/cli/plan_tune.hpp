// isobar plan --tune: measures the convolutions of a network and remembers what was fastest.
#pragma once

#include <cstdint>
#include <string>

#include "isobar/base/spec.hpp"
#include "isobar/graph/plan.hpp"

namespace isobar::cli {

struct TuneRequest {
  std::string workspace = "256MB";
  bool inexact = false;
};

/// Shows progress, then what was chosen. If it is stopped, measurements so far are kept, and the next call continues.
void tune_network(const Spec& model, std::int64_t batch, const graph::Graph& graph, const graph::PlanOptions& options,
                  const TuneRequest& request);

}  // namespace isobar::cli
