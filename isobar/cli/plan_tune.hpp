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

/// Shows how far it is, then what was chosen. What was measured when it is stopped is kept, and the next call goes on.
void tune_network(const Spec& model, std::int64_t batch, const graph::Graph& graph, const graph::PlanOptions& options,
                  const TuneRequest& request);

}  // namespace isobar::cli
