// Network: a named architecture that can be built in any size and for any batch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "isobar/base/row.hpp"
#include "isobar/graph/graph.hpp"

namespace isobar::zoo {

class Network {
 public:
  virtual ~Network() = default;

  /// Adds the input "x" and everything up to the output "prediction".
  virtual void build(graph::Graph& graph, std::int64_t batch) const = 0;
  /// Shape of the target, which is compared with the prediction.
  virtual Shape target(std::int64_t batch) const = 0;
  /// The loss its authors used.
  virtual Spec loss() const = 0;
  /// Adds to a built graph what training minimises and returns it: `loss` of the prediction, or a sum of several terms.
  virtual graph::ValueId add_loss(graph::Graph& graph, graph::ValueId target, const Spec& loss) const;
  /// The names of a prediction's numbers; empty if they have none.
  virtual std::vector<std::string> target_names() const { return {}; }
};

/// All networks; the `name` of a row is the network's name in recipes.
Table<Row<Network>> networks();

std::unique_ptr<Network> make_network(const Spec& spec, Spec* resolved = nullptr);

/// Adds one loss of a prediction against a target; an operator that is not a loss is an Error.
graph::ValueId add_loss_term(graph::Graph& graph, const Spec& loss, graph::ValueId prediction, graph::ValueId target,
                             std::string name);

/// The sum of `terms`, each times its factor, as one loss called "loss".
graph::ValueId add_weighted_sum(graph::Graph& graph, std::vector<std::pair<graph::ValueId, double>> terms);

/// The network with target input "y" and a loss at its end; an empty Spec means the network's own loss.
graph::Graph training_graph(const Network& network, std::int64_t batch, const Spec& loss = {});

}  // namespace isobar::zoo
