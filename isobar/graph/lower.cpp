#include "isobar/graph/lower.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/ops/pieces.hpp"
#include "isobar/tensor/engine.hpp"

namespace isobar::graph {

using Kind = ops::Slot::Kind;

double port_bytes(std::span<const Layout> layouts) {
  double bytes = 0;
  for (const Layout& layout : layouts) bytes += static_cast<double>(layout.get_size());
  return bytes;
}

Lowering::Lowering(const Graph& graph, const PlanOptions& options)
    : graph_(graph),
      options_(options),
      buffer_of_(graph.values().size(), -1),
      contributions_(graph.values().size()),
      uses_(graph.values().size(), 0),
      needs_gradient_(graph.values().size(), false),
      parameter_of_(graph.values().size(), -1),
      state_(graph.nodes().size()) {
  find_needed();
  if (options.phase == ops::Phase::training) find_gradients();
  for (std::size_t id = 0; id < graph.values().size(); ++id) {
    const Value& v = graph.values()[id];
    if (v.role == Value::Role::input) {
      buffer_of_[id] = new_buffer(v.name, channels_last(v.shape), Home::input, static_cast<int>(plan_.inputs.size()));
      plan_.inputs.push_back({v.name, v.shape});
    } else if (v.role == Value::Role::parameter) {
      const auto known = options.stored.find(v.name);
      parameter_of_[id] = static_cast<int>(plan_.parameters.size());
      plan_.parameters.push_back({v.name, v.parameter, known == options.stored.end() ? Layout() : known->second});
      buffer_of_[id] = new_buffer(v.name, plan_.parameters.back().layout, Home::weight, parameter_of_[id]);
    }
  }
}

int Lowering::new_buffer(std::string name, const Layout& layout, Home home, int index) {
  plan_.buffers.push_back({std::move(name), layout, layout.get_size(), home, index});
  wish_.push_back(-1);
  return static_cast<int>(plan_.buffers.size() - 1);
}

// A node runs if an output of the graph depends on it.
void Lowering::find_needed() {
  std::vector<bool> wanted(graph_.values().size());
  for (const auto& [name, id] : graph_.outputs()) wanted[static_cast<std::size_t>(id)] = true;
  for (std::size_t n = graph_.nodes().size(); n-- > 0;) {
    const Node& node = graph_.nodes()[n];
    state_[n].needed =
        std::any_of(node.out.begin(), node.out.end(), [&](ValueId id) { return wanted[static_cast<std::size_t>(id)]; });
    if (state_[n].needed)
      for (const ValueId id : node.in) wanted[static_cast<std::size_t>(id)] = true;
  }
}

// A value needs a gradient if a trained weight lies behind it and the loss before it.
void Lowering::find_gradients() {
  const auto loss = graph_.outputs().find("loss");
  if (loss == graph_.outputs().end()) fail("a training plan needs a graph with a loss");
  std::vector<bool> trained(graph_.values().size());
  for (std::size_t id = 0; id < trained.size(); ++id)
    trained[id] = graph_.values()[id].role == Value::Role::parameter && graph_.values()[id].parameter.trained;
  for (const Node& node : graph_.nodes())
    if (std::any_of(node.in.begin(), node.in.end(), [&](ValueId id) { return trained[static_cast<std::size_t>(id)]; }))
      for (const ValueId id : node.out) trained[static_cast<std::size_t>(id)] = true;

  std::vector<bool> in_loss(graph_.values().size());
  in_loss[static_cast<std::size_t>(loss->second)] = true;
  for (std::size_t n = graph_.nodes().size(); n-- > 0;) {
    const Node& node = graph_.nodes()[n];
    if (std::none_of(node.out.begin(), node.out.end(),
                     [&](ValueId id) { return in_loss[static_cast<std::size_t>(id)]; }))
      continue;
    for (const ValueId id : node.in) {
      in_loss[static_cast<std::size_t>(id)] = true;
      if (trained[static_cast<std::size_t>(id)]) ++uses_[static_cast<std::size_t>(id)];
    }
  }
  for (std::size_t id = 0; id < trained.size(); ++id) needs_gradient_[id] = trained[id] && in_loss[id];
}

std::vector<ops::Operand> Lowering::operands(const Node& node) const {
  std::vector<ops::Operand> list;
  for (const ValueId id : node.in) {
    const Value& v = graph_.value(id);
    const int p = parameter_of_[static_cast<std::size_t>(id)];
    list.push_back({v.shape, p < 0 ? channels_last(v.shape) : plan_.parameters[static_cast<std::size_t>(p)].layout,
                    needs_gradient_[static_cast<std::size_t>(id)]});
  }
  return list;
}

ops::Setting Lowering::setting(const Node& node) const {
  return {cpu_engine(), options_.phase, hash_text(node.name), options_.own_kernels, node.name, options_.tuning.get()};
}

void Lowering::add_simple(std::string name, std::string kernel, Category category, std::vector<int> buffers,
                          std::size_t reads,
                          std::function<void(const ops::Moment&, std::span<const dnnl::memory>)> run) {
  PlanStep step{std::move(name), std::move(kernel), category};
  step.run = std::move(run);
  step.reads = reads;
  for (const int b : buffers) step.layouts.push_back(plan_.buffers[static_cast<std::size_t>(b)].layout);
  step.buffers = std::move(buffers);
  step.bytes = port_bytes(step.layouts);
  plan_.steps.push_back(std::move(step));
}

void Lowering::relayout(std::string name, int from, int to) {
  const dnnl::reorder::primitive_desc chosen(cpu_engine(), plan_.buffers[static_cast<std::size_t>(from)].layout,
                                             cpu_engine(), plan_.buffers[static_cast<std::size_t>(to)].layout);
  add_simple(std::move(name), "relayout", Category::copy, {from, to}, 1,
             [reorder = dnnl::reorder(chosen)](const ops::Moment& moment, std::span<const dnnl::memory> m) {
               reorder.execute(moment.stream, {{DNNL_ARG_FROM, m[0]}, {DNNL_ARG_TO, m[1]}});
             });
}

// The weight in the layout a kernel wants: as stored, or a copy made once in a run and used by all who want it.
int Lowering::weight_as(ValueId id, const Layout& wanted) {
  const int stored = buffer_of_[static_cast<std::size_t>(id)];
  PlanParameter& parameter = plan_.parameters[static_cast<std::size_t>(parameter_of_[static_cast<std::size_t>(id)])];
  if (parameter.layout.data.ndims == 0) {
    parameter.layout = wanted;
    Buffer& buffer = plan_.buffers[static_cast<std::size_t>(stored)];
    buffer.layout = wanted;
    buffer.bytes = wanted.get_size();
  }
  if (same_bytes(parameter.layout, wanted)) return stored;
  const auto key = std::pair(stored, layout_text(wanted));
  const auto [found, is_new] = other_layouts_.try_emplace(key, -1);
  if (is_new) {
    found->second = new_buffer(parameter.name + " as " + layout_text(wanted), wanted);
    relayout(parameter.name, stored, found->second);
  }
  return found->second;
}

int Lowering::read_buffer(const Node& node, const ops::Port& port, std::map<int, int>& temporaries) {
  const auto i = static_cast<std::size_t>(port.slot.index);
  const auto n = static_cast<std::size_t>(&node - graph_.nodes().data());
  switch (port.slot.kind) {
    case Kind::x:
      if (parameter_of_[static_cast<std::size_t>(node.in[i])] >= 0) return weight_as(node.in[i], port.layout);
      return buffer_of_[static_cast<std::size_t>(node.in[i])];
    case Kind::y: return buffer_of_[static_cast<std::size_t>(node.out[i])];
    case Kind::saved: return state_[n].saved.at(port.slot.index);
    case Kind::dy: return gradient_of(node.out[i]);
    case Kind::temp: return temporaries.at(port.slot.index);
    case Kind::dx: break;
  }
  throw std::logic_error("a kernel may not read dx");
}

int Lowering::write_buffer(const Node& node, const ops::Port& port, std::map<int, int>& temporaries) {
  const auto i = static_cast<std::size_t>(port.slot.index);
  const auto n = static_cast<std::size_t>(&node - graph_.nodes().data());
  switch (port.slot.kind) {
    case Kind::x: return weight_as(node.in[i], port.layout);
    case Kind::y:
      return buffer_of_[static_cast<std::size_t>(node.out[i])] =
                 new_buffer(graph_.value(node.out[i]).name, port.layout);
    case Kind::saved: return state_[n].saved[port.slot.index] = new_buffer(node.name + " saved", port.layout);
    case Kind::temp: {
      const int b = new_buffer(node.name + " temporary", port.layout);
      plan_.buffers[static_cast<std::size_t>(b)].temporary = true;
      return temporaries[port.slot.index] = b;
    }
    case Kind::dx: {
      const int b = new_buffer("d " + graph_.value(node.in[i]).name, port.layout);
      if (needs_gradient_[static_cast<std::size_t>(node.in[i])])  // a frozen weight's gradient may come with another's
        contributions_[static_cast<std::size_t>(node.in[i])].push_back({b});
      return b;
    }
    case Kind::dy: break;
  }
  throw std::logic_error("a kernel may not write dy");
}

// Follows the step it repeats: all it reads and writes has a buffer.
void Lowering::note_repeat(const Node& node, const ops::Kernel& again) {
  Repeat repeat{{node.name, again.name, again.category, again.flops}, {}};
  std::map<int, int> none;
  for (const ops::Port& port : again.reads) {
    repeat.step.buffers.push_back(read_buffer(node, port, none));
    repeat.step.layouts.push_back(port.layout);
  }
  repeat.step.reads = repeat.step.buffers.size();
  for (const ops::Port& port : again.writes) {
    expects(port.slot.kind == Kind::y, "a kernel that makes outputs again to write nothing else");
    repeat.wishes.push_back(port.alias_of < 0 ? -1 : repeat.step.buffers[static_cast<std::size_t>(port.alias_of)]);
    repeat.step.buffers.push_back(read_buffer(node, port, none));
    repeat.step.layouts.push_back(port.layout);
  }
  repeat.step.bytes = port_bytes(repeat.step.layouts);
  repeat.step.shape = graph_.value(node.out[0]).shape;
  repeat.step.library = again.library;
  repeat.step.run = again.run;
  repeats_.emplace(plan_.steps.size() - 1, std::move(repeat));
}

void Lowering::emit(const Node& node, ops::Kernel kernel, std::map<int, int>& temporaries) {
  if (pass_channels(node, kernel)) return;
  PlanStep step{node.name, kernel.name, kernel.category, kernel.flops};
  for (const ops::Port& port : kernel.reads) {
    if (port.slot.kind == Kind::dy && port.slot.index >= ops::first_pieces) {
      expects(&port == &kernel.reads.back(), "pieces to be read last");
      add_pieces_of(node.out[static_cast<std::size_t>(port.slot.index - ops::first_pieces)], step);
      continue;
    }
    step.buffers.push_back(read_buffer(node, port, temporaries));
    step.layouts.push_back(port.layout);
  }
  step.reads = step.buffers.size();
  for (const ops::Port& port : kernel.writes) {
    const int b = write_buffer(node, port, temporaries);
    if (port.alias_of >= 0) wish_[static_cast<std::size_t>(b)] = step.buffers[static_cast<std::size_t>(port.alias_of)];
    step.buffers.push_back(b);
    step.layouts.push_back(port.layout);
  }
  step.bytes = port_bytes(step.layouts);
  step.shape = graph_.value(node.out[0]).shape;
  step.library = kernel.library;
  step.run = std::move(kernel.run);
  if (!step.run) {
    expects(step.buffers.size() == 2, "a view to have one read and one write");
    step.flops = step.bytes = 0;
    wish_[static_cast<std::size_t>(step.buffers[1])] = step.buffers[0];
  }
  plan_.steps.push_back(std::move(step));
  if (kernel.again) note_repeat(node, *kernel.again);
  for (std::size_t i = 0; i < node.in.size(); ++i) finish_parameter(node.in[i]);
}

void Lowering::forward() {
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
    const Node& node = graph_.nodes()[n];
    if (!state_[n].needed) continue;
    std::map<int, int> temporaries;
    emit(node, node.op->forward(setting(node), operands(node)), temporaries);
  }
  plan_.forward_steps = plan_.steps.size();
}

void Lowering::backward() {
  const ValueId loss = graph_.outputs().at("loss");
  const int seed = new_buffer("d loss", plain({1}));
  contributions_[static_cast<std::size_t>(loss)].push_back({seed});
  add_simple(
      "loss", "seed of the gradient", Category::backward_pointwise, {seed}, 0,
      [](const ops::Moment&, std::span<const dnnl::memory> m) { *static_cast<float*>(m[0].get_data_handle()) = 1.0f; });
  for (std::size_t n = graph_.nodes().size(); n-- > 0;) {
    const Node& node = graph_.nodes()[n];
    const bool reached = std::any_of(node.out.begin(), node.out.end(),
                                     [&](ValueId id) { return !contributions_[static_cast<std::size_t>(id)].empty(); });
    const bool wanted = std::any_of(node.in.begin(), node.in.end(),
                                    [&](ValueId id) { return bool{needs_gradient_[static_cast<std::size_t>(id)]}; });
    if (!reached || !wanted) continue;
    std::map<int, int> temporaries;
    for (ops::Kernel& kernel : node.op->backward(setting(node), operands(node)))
      emit(node, std::move(kernel), temporaries);
  }
}

// Numbers the weights in the order their gradients become final; those without gradient come last.
void Lowering::order_parameters() {
  std::vector<int> order;
  for (const PlanStep& step : plan_.steps)
    order.insert(order.end(), step.final_parameters.begin(), step.final_parameters.end());
  for (int p = 0; p < static_cast<int>(plan_.parameters.size()); ++p)
    if (std::find(order.begin(), order.end(), p) == order.end()) order.push_back(p);
  std::vector<int> now(order.size());
  std::vector<PlanParameter> sorted;
  for (std::size_t i = 0; i < order.size(); ++i) {
    now[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    sorted.push_back(plan_.parameters[static_cast<std::size_t>(order[i])]);
  }
  plan_.parameters = std::move(sorted);
  for (Buffer& b : plan_.buffers)
    if (b.home == Home::weight || b.home == Home::gradient) b.index = now[static_cast<std::size_t>(b.index)];
  for (PlanStep& step : plan_.steps)
    for (int& p : step.final_parameters) p = now[static_cast<std::size_t>(p)];
}

Plan Lowering::take(std::vector<int>& wishes) {
  for (const auto& [name, id] : graph_.outputs()) {
    plan_.outputs[name] = buffer_of_[static_cast<std::size_t>(id)];
    plan_.output_shapes[name] = graph_.value(id).shape;
  }
  order_parameters();
  wishes = std::move(wish_);
  return std::move(plan_);
}

}  // namespace isobar::graph
