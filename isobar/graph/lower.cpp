#include "isobar/graph/lower.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/graph/hoist.hpp"
#include "isobar/ops/pieces.hpp"
#include "isobar/tensor/engine.hpp"

namespace isobar::graph {

using Kind = ops::Slot::Kind;

double port_bytes(std::span<const Layout> layouts) {
  double bytes = 0;
  for (const Layout& layout : layouts) bytes += layout.get_size();
  return bytes;
}

Lowering::Lowering(const Graph& graph, const PlanOptions& options)
    : graph_(graph),
      options_(options),
      buffer_of_(graph.values().size()),
      contributions_(graph.values().size()),
      uses_(graph.values().size()),
      needs_gradient_(graph.values().size()),
      gradient_comes_(graph.values().size()),
      parameter_of_(graph.values().size()),
      state_(graph.nodes().size()) {
  find_needed();
  if (options.phase == ops::Phase::training) find_gradients();
  for (const ValueId id : graph.values().ids()) {
    const GraphValue& v = graph.value(id);
    if (v.role == GraphValue::Role::input) {
      buffer_of_[id] = new_buffer(v.name, channels_last(v.shape), Home::input);
      plan_.buffers.back().input = std::ssize(plan_.inputs);
      plan_.inputs.push_back({v.name, v.shape});
    } else if (v.role == GraphValue::Role::parameter) {
      const auto known = options.stored.find(v.name);
      parameter_of_[id] =
          plan_.parameters.add({v.name, v.parameter, known == options.stored.end() ? Layout() : known->second});
      buffer_of_[id] = new_buffer(v.name, plan_.parameters.back().layout, Home::weight, parameter_of_[id]);
    }
  }
}

BufferId Lowering::new_buffer(std::string name, const Layout& layout, Home home, ParameterId parameter) {
  wish_.push_back({});
  return plan_.buffers.add({std::move(name), layout, layout.get_size(), home, -1, parameter});
}

// Where the backward pass begins: the loss first.
std::vector<ValueId> Lowering::roots() const {
  std::vector<ValueId> all;
  const auto loss = graph_.outputs().find("loss");
  if (loss != graph_.outputs().end()) all.push_back(loss->second);
  for (const ValueId root : graph_.roots())
    if (std::ranges::find(all, root) == all.end()) all.push_back(root);
  return all;
}

// A node runs if an output of the graph or a root depends on it.
void Lowering::find_needed() {
  IdVector<ValueId, bool> wanted(graph_.values().size());
  for (const auto& [name, id] : graph_.outputs()) wanted[id] = true;
  for (const ValueId id : graph_.roots()) wanted[id] = true;
  for (const NodeId n : graph_.nodes().ids() | std::views::reverse) {
    const Node& node = graph_.node(n);
    state_[n].needed = std::any_of(node.out.begin(), node.out.end(), [&](ValueId id) { return wanted[id]; });
    if (state_[n].needed)
      for (const ValueId id : node.in) wanted[id] = true;
  }
}

// A value needs a gradient if it depends on a trained weight, of this rank or another, and a root depends on it.
void Lowering::find_gradients() {
  const std::vector<ValueId> roots = this->roots();
  if (roots.empty()) fail("a training plan needs a graph with a loss or another root");
  IdVector<ValueId, bool> trained;
  for (const GraphValue& v : graph_.values())
    trained.push_back(v.role == GraphValue::Role::parameter && v.parameter.trained);
  for (const Node& node : graph_.nodes())
    if (node.op->sends_gradient() ||
        std::any_of(node.in.begin(), node.in.end(), [&](ValueId id) { return trained[id]; }))
      for (const ValueId id : node.out) trained[id] = true;

  IdVector<ValueId, bool> in_root(graph_.values().size());
  for (const ValueId root : roots) in_root[root] = true;
  for (const NodeId n : graph_.nodes().ids() | std::views::reverse) {
    const Node& node = graph_.node(n);
    if (std::none_of(node.out.begin(), node.out.end(), [&](ValueId id) { return in_root[id]; })) continue;
    for (const ValueId id : node.in) {
      in_root[id] = true;
      if (trained[id]) ++uses_[id];
    }
  }
  for (const ValueId id : trained.ids()) needs_gradient_[id] = trained[id] && in_root[id];
}

std::vector<ops::Operand> Lowering::operands(const Node& node) const {
  std::vector<ops::Operand> list;
  for (const ValueId id : node.in) {
    const GraphValue& v = graph_.value(id);
    const ParameterId p = parameter_of_[id];
    list.push_back({v.shape, p ? plan_.parameters[p].layout : channels_last(v.shape), needs_gradient_[id]});
  }
  return list;
}

ops::Setting Lowering::setting(const Node& node) const {
  return {cpu_engine(), options_.phase, hash_text(node.name), options_.own_kernels, node.name, options_.tuning.get()};
}

void Lowering::add_simple(std::string name, std::string kernel, Category category, std::vector<BufferId> buffers,
                          std::size_t reads,
                          std::function<void(const ops::Moment&, std::span<const dnnl::memory>)> run) {
  PlanStep step{std::move(name), std::move(kernel), category};
  step.run = std::move(run);
  step.reads = reads;
  for (const BufferId b : buffers) step.layouts.push_back(plan_.buffers[b].layout);
  step.buffers = std::move(buffers);
  step.bytes = port_bytes(step.layouts);
  plan_.steps.push_back(std::move(step));
}

void Lowering::relayout(std::string name, BufferId from, BufferId to) {
  const dnnl::reorder::primitive_desc chosen(cpu_engine(), plan_.buffers[from].layout, cpu_engine(),
                                             plan_.buffers[to].layout);
  add_simple(std::move(name), "relayout", Category::copy, {from, to}, 1,
             [reorder = dnnl::reorder(chosen)](const ops::Moment& moment, std::span<const dnnl::memory> m) {
               reorder.execute(moment.stream, {{DNNL_ARG_FROM, m[0]}, {DNNL_ARG_TO, m[1]}});
             });
}

// The weight in the layout a kernel wants: as stored, or a copy made once per run and shared by all its readers.
BufferId Lowering::weight_as(ValueId id, const Layout& wanted) {
  const BufferId stored = buffer_of_[id];
  PlanParameter& parameter = plan_.parameters[parameter_of_[id]];
  if (parameter.layout.data.ndims == 0) {
    parameter.layout = wanted;
    Buffer& buffer = plan_.buffers[stored];
    buffer.layout = wanted;
    buffer.bytes = wanted.get_size();
  }
  if (same_bytes(parameter.layout, wanted)) return stored;
  const auto key = std::pair(stored, layout_text(wanted));
  const auto [found, is_new] = other_layouts_.try_emplace(key);
  if (is_new) {
    found->second = new_buffer(parameter.name + " as " + layout_text(wanted), wanted);
    relayout(parameter.name, stored, found->second);
  }
  return found->second;
}

BufferId Lowering::read_buffer(NodeId n, const ops::Port& port, const Slots& temporaries) {
  const Node& node = graph_.node(n);
  const int i = port.slot.index;
  switch (port.slot.kind) {
    case Kind::x:
      if (parameter_of_[node.in[i]]) return weight_as(node.in[i], port.layout);
      return buffer_of_[node.in[i]];
    case Kind::y: return buffer_of_[node.out[i]];
    case Kind::saved: return state_[n].saved.at(i);
    case Kind::dy: return gradient_of(node.out[i]);
    case Kind::temp: return temporaries.at(i);
    case Kind::dx: break;
  }
  throw std::logic_error("a kernel may not read dx");
}

BufferId Lowering::write_buffer(NodeId n, const ops::Port& port, Slots& temporaries) {
  const Node& node = graph_.node(n);
  const int i = port.slot.index;
  switch (port.slot.kind) {
    case Kind::x: return weight_as(node.in[i], port.layout);
    case Kind::y: return buffer_of_[node.out[i]] = new_buffer(graph_.value(node.out[i]).name, port.layout);
    case Kind::saved: return state_[n].saved[i] = new_buffer(node.name + " saved", port.layout);
    case Kind::temp: {
      const BufferId b = new_buffer(node.name + " temporary", port.layout);
      plan_.buffers[b].temporary = true;
      return temporaries[i] = b;
    }
    case Kind::dx: {
      const BufferId b = new_buffer("d " + graph_.value(node.in[i]).name, port.layout);
      if (needs_gradient_[node.in[i]])  // a frozen weight's gradient may be computed along with another
        contributions_[node.in[i]].push_back({b});
      return b;
    }
    case Kind::dy: break;
  }
  throw std::logic_error("a kernel may not write dy");
}

// Called after the step it repeats, so everything it reads and writes has a buffer.
void Lowering::note_repeat(NodeId n, const ops::Kernel& again) {
  const Node& node = graph_.node(n);
  Repeat repeat{{node.name, again.name, again.category, again.flops}, {}};
  for (const ops::Port& port : again.reads) {
    repeat.step.buffers.push_back(read_buffer(n, port, {}));
    repeat.step.layouts.push_back(port.layout);
  }
  repeat.step.reads = repeat.step.buffers.size();
  for (const ops::Port& port : again.writes) {
    expects(port.slot.kind == Kind::y, "a kernel that makes outputs again to write nothing else");
    repeat.wishes.push_back(port.alias_of < 0 ? BufferId() : repeat.step.buffers[port.alias_of]);
    repeat.step.buffers.push_back(read_buffer(n, port, {}));
    repeat.step.layouts.push_back(port.layout);
  }
  repeat.step.bytes = port_bytes(repeat.step.layouts);
  repeat.step.shape = graph_.value(node.out[0]).shape;
  repeat.step.library = again.library;
  repeat.step.run = again.run;
  repeats_.emplace(StepId(plan_.steps.size() - 1), std::move(repeat));
}

void Lowering::emit(NodeId n, ops::Kernel kernel, Slots& temporaries) {
  const Node& node = graph_.node(n);
  if (pass_channels(node, kernel)) return;
  PlanStep step{node.name, kernel.name, kernel.category, kernel.flops};
  for (const ops::Port& port : kernel.reads) {
    if (port.slot.kind == Kind::dy && port.slot.index >= ops::first_pieces) {
      expects(&port == &kernel.reads.back(), "pieces to be read last");
      add_pieces_of(node.out[port.slot.index - ops::first_pieces], step);
      continue;
    }
    step.buffers.push_back(read_buffer(n, port, temporaries));
    step.layouts.push_back(port.layout);
  }
  step.reads = step.buffers.size();
  for (const ops::Port& port : kernel.writes) {
    const BufferId b = write_buffer(n, port, temporaries);
    if (port.alias_of >= 0) wish_[b] = step.buffers[port.alias_of];
    step.buffers.push_back(b);
    step.layouts.push_back(port.layout);
  }
  step.bytes = kernel.bytes.value_or(port_bytes(step.layouts));
  step.shape = graph_.value(node.out[0]).shape;
  step.library = kernel.library;
  step.run = std::move(kernel.run);
  step.talk = std::move(kernel.talk);
  if (!step.run) {
    expects(step.buffers.size() == 2, "a view to have one read and one write");
    step.flops = 0;
    step.bytes = step.talk ? static_cast<double>(ops::traffic_of(*step.talk).bytes) : 0;
    wish_[step.buffers[1]] = step.buffers[0];
  }
  plan_.steps.push_back(std::move(step));
  if (kernel.again) note_repeat(n, *kernel.again);
  for (const ValueId id : node.in) finish_parameter(id);
}

void Lowering::forward() {
  for (const NodeId n : graph_.nodes().ids()) {
    const Node& node = graph_.node(n);
    if (!state_[n].needed) continue;
    Slots temporaries;
    for (ops::Kernel& kernel : node.op->forwards(setting(node), operands(node)))
      emit(n, std::move(kernel), temporaries);
  }
  plan_.forward_steps = plan_.steps.size();
}

// The gradient of a root is 1, unless it comes from another rank.
void Lowering::begin_backward() {
  const std::vector<ValueId> roots = this->roots();
  for (const Node& node : graph_.nodes())
    if (node.op->receives_gradient())
      for (const ValueId id : node.out) gradient_comes_[id] = std::ranges::find(roots, id) != roots.end();
  for (const ValueId root : roots) {
    if (gradient_comes_[root]) continue;
    const std::string name =
        graph_.outputs().contains("loss") && root == graph_.outputs().at("loss") ? "loss" : graph_.value(root).name;
    expects(graph_.value(root).shape.count() == 1, "a root of one number");
    const BufferId seed = new_buffer("d " + name, plain({1}));
    contributions_[root].push_back({seed});
    add_simple(name, "seed of the gradient", Category::backward_pointwise, {seed}, 0,
               [](const ops::Moment&, std::span<const dnnl::memory> m) {
                 *static_cast<float*>(m[0].get_data_handle()) = 1.0f;
               });
  }
}

void Lowering::backward() {
  begin_backward();
  for (const NodeId n : graph_.nodes().ids() | std::views::reverse) {
    const Node& node = graph_.node(n);
    const bool reached = std::any_of(node.out.begin(), node.out.end(),
                                     [&](ValueId id) { return gradient_comes_[id] || !contributions_[id].empty(); });
    const bool wanted = std::any_of(node.in.begin(), node.in.end(), [&](ValueId id) { return needs_gradient_[id]; });
    const bool awaited = node.op->sends_gradient() && state_[n].needed;  // even if it is zero
    if (!awaited && !(reached && wanted)) continue;
    Slots temporaries;
    for (ops::Kernel& kernel : node.op->backward(setting(node), operands(node)))
      emit(n, std::move(kernel), temporaries);
  }
}

// Numbers the weights in the order of the options, or in which their gradients become final; those without gradient
// come last.
void Lowering::order_parameters() {
  std::vector<ParameterId> order;
  for (const std::string& name : options_.order) {
    const auto found = std::ranges::find(plan_.parameters, name, &PlanParameter::name);
    expects(found != plan_.parameters.end(), "an order of the weights there are");
    order.push_back(ParameterId(found - plan_.parameters.begin()));
  }
  for (const PlanStep& step : plan_.steps)
    if (options_.order.empty()) order.insert(order.end(), step.final_parameters.begin(), step.final_parameters.end());
  for (const ParameterId p : plan_.parameters.ids())
    if (std::find(order.begin(), order.end(), p) == order.end()) order.push_back(p);
  IdVector<ParameterId, ParameterId> now(order.size());
  IdVector<ParameterId, PlanParameter> sorted;
  for (const ParameterId p : order) now[p] = sorted.add(plan_.parameters[p]);
  plan_.parameters = std::move(sorted);
  for (Buffer& b : plan_.buffers)
    if (b.parameter) b.parameter = now[b.parameter];
  for (PlanStep& step : plan_.steps)
    for (ParameterId& p : step.final_parameters) p = now[p];
}

Plan Lowering::take(Wishes& wishes) {
  for (const auto& [name, id] : graph_.outputs()) {
    plan_.outputs[name] = buffer_of_[id];
    plan_.output_shapes[name] = graph_.value(id).shape;
  }
  plan_.rows = graph_.rows();
  order_parameters();  // before steps change places: the order then does not depend on what talks
  if (options_.hoist) hoist_messages(plan_, repeats_);
  wishes = std::move(wish_);
  return std::move(plan_);
}

}  // namespace isobar::graph
