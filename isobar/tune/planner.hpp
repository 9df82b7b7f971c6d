// The micro-batching planner: measures the methods for every convolution of a network on pieces of its batch, and
// chooses for every direction the pieces and methods that are fastest together, within the allowed workspace.
// Copies of weights between layouts count: the forward kernel decides in which layout weights are stored.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "isobar/graph/plan.hpp"
#include "isobar/ops/conv_methods.hpp"
#include "isobar/ops/tuning_text.hpp"
#include "isobar/tune/kernel_timer.hpp"

namespace isobar::tune {

/// A convolution of a network.
struct Layer {
  std::string node;
  ops::ConvCase problem;                     ///< its stored layout is that of the usual forward kernel
  std::vector<ops::Direction> directions{};  ///< those that are computed
};

/// All convolutions of a network, each with the directions that its plan computes, in the order in which they run.
std::vector<Layer> convolutions(const graph::Graph& graph, const graph::PlanOptions& options = {});

struct TuneOptions {
  std::size_t workspace = 256'000'000;  ///< bytes a kernel may use in addition to its operands
  bool inexact = false;                 ///< methods that round differently may be chosen
  TimingCare care{};
};

/// The result for one direction of a layer. It is used only if the layer as a whole becomes faster.
struct Finding {
  ops::NamedChoice chosen;
  double seconds = 0, before = 0;  ///< including copies of weights; before: without tuning
  std::size_t workspace = 0;       ///< bytes
  bool usual = false;              ///< the same choice as without tuning
};

class Planner {
 public:
  explicit Planner(const TuneOptions& options) : options_(options), timer_(options.care) {}

  /// Measures one layer; empty if `stop` was set meanwhile.
  std::vector<Finding> tune(const Layer& layer, const std::atomic<bool>* stop = nullptr);
  int measurements() const { return timer_.measurements(); }

 private:
  // A method on a piece of the batch.
  struct Measured {
    const ops::ConvMethod* method;
    std::int64_t samples;
    double seconds;
    std::size_t workspace;
    Layout weight;   // as the kernel reads or writes it
    bool as_stored;  // accepts any layout
  };
  struct Way {
    ops::Choice choice{};
    double seconds = 0;
    std::size_t workspace = 0;
    std::vector<Layout> weights{};  // to be copied to or from the stored layout; empty if any layout will do
    double copies = 0;              // seconds of these copies, part of `seconds`
  };
  // One way for every direction of a layer, and the layout of the weight.
  struct Ways {
    Layout stored;
    std::vector<Way> all{};
    double seconds() const;
  };
  using Candidates = std::vector<Measured>;

  Candidates measure(const Layer& layer, ops::Direction direction, const std::atomic<bool>* stop);
  Way best_way(const Layer& layer, ops::Direction direction, const Candidates& candidates, const Layout& stored);
  Way usual_way(const Layer& layer, ops::Direction direction, const Candidates& candidates);
  void add_copies(const Layout& stored, Way& way, ops::Direction direction);
  Ways choose(const Layer& layer, const std::vector<Candidates>& candidates, const Ways& usual);
  void confirm(const Layer& layer, Ways& chosen, Ways& usual);

  TuneOptions options_;
  KernelTimer timer_;
  std::map<std::string, Candidates> known_;  // by problem: many layers are alike
};

/// All choices that differ from the usual ones.
ops::Tuning tuning_of(const std::vector<Finding>& findings);

}  // namespace isobar::tune
