// Runs kernels of one operator without graph and plan: every slot has its own memory, with sentinels on both sides.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/comm/schedule.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/pieces.hpp"
#include "isobar/tensor/engine.hpp"
#include "isobar/tensor/layout.hpp"

namespace isobar::ops {

class Direct {
 public:
  using Key = std::pair<Slot::Kind, int>;

  explicit Direct(const Spec& spec, std::vector<Shape> data) : Direct(make_operator(spec), std::move(data)) {}
  explicit Direct(std::shared_ptr<const Operator> made, std::vector<Shape> data)
      : op(std::move(made)), shapes(std::move(data)) {
    const std::size_t given = shapes.size();
    for (const Parameter& p : op->parameters(std::span(shapes).first(given))) shapes.push_back(p.shape);
    for (const Shape& s : shapes) in.push_back({s, Layout(), true});
    for (std::size_t i = 0; i < given; ++i) in[i].layout = channels_last(shapes[i]);
    if (op->is_loss()) in.back().needs_gradient = false;
    out = op->infer(shapes);
    moment.stream = dnnl::stream(cpu_engine());
    moment.rows = shapes.empty() ? 1 : shapes[0][0];
    moment.total = static_cast<double>(moment.rows);
  }

  /// The numbers of a slot, which is allocated and filled with a pattern at its first use.
  std::span<float> at(Slot::Kind kind, int index, const Layout& layout) {
    auto& memory = slots_[{kind, kind == Slot::Kind::dy ? index % first_pieces : index}];
    const std::size_t needed = (layout.get_size() + sizeof(float) - 1) / sizeof(float) + 2 * guard;
    // A temporary is another one in the other pass.
    if (memory.empty() || (kind == Slot::Kind::temp && memory.size() != needed)) memory.assign(needed, sentinel);
    return std::span(memory).subspan(guard, layout.get_size() / sizeof(float));
  }
  std::span<float> x(int i) { return at(Slot::Kind::x, i, plain(shapes[static_cast<std::size_t>(i)])); }
  std::span<float> y(int i = 0) { return at(Slot::Kind::y, i, plain(out[static_cast<std::size_t>(i)])); }
  std::span<float> dx(int i) { return at(Slot::Kind::dx, i, plain(shapes[static_cast<std::size_t>(i)])); }
  std::span<float> dy(int i = 0) { return at(Slot::Kind::dy, i, plain(out[static_cast<std::size_t>(i)])); }

  /// Whether nothing was written outside a slot.
  bool intact() const {
    return std::all_of(slots_.begin(), slots_.end(), [](const auto& slot) {
      const std::vector<float>& m = slot.second;
      const auto same = [](float v) { return v == sentinel; };
      return std::all_of(m.begin(), m.begin() + guard, same) && std::all_of(m.end() - guard, m.end(), same);
    });
  }

  void forward() {
    for (const Kernel& kernel : op->forwards(setting(), in)) run(kernel);
  }
  void backward() {
    for (const Kernel& kernel : op->backward(setting(), in)) run(kernel);
  }
  Setting setting() const { return {cpu_engine(), phase, site, own_kernels, "node", tuning}; }

  std::shared_ptr<const Operator> op;
  std::vector<Shape> shapes, out;
  std::vector<Operand> in;
  Moment moment{};
  Phase phase = Phase::training;
  std::uint64_t site = 7;
  bool own_kernels = true;
  const Tuning* tuning = nullptr;
  comm::Comm* comm = nullptr;  ///< of the ranks that the operator talks with; messages are over as soon as they begin

 private:
  static constexpr int guard = 16;
  static constexpr float sentinel = -12345.5f;

  // Weights and their gradients are plain here; a kernel that wants another layout gets a copy in it.
  bool relaid(const Port& port) const {
    const bool weight = (port.slot.kind == Slot::Kind::x || port.slot.kind == Slot::Kind::dx) &&
                        port.slot.index >= (op->arity() < 0 ? static_cast<int>(in.size()) : op->arity());
    return weight && port.layout != plain_layout(port);
  }
  // With groups, a layout has one axis more than the weight's shape, in the same order.
  static Layout plain_layout(const Port& port) {
    return plain(Shape(std::vector(port.layout.data.dims, port.layout.data.dims + port.layout.data.ndims)));
  }
  dnnl::memory plain_memory(const Port& port) {
    const Layout layout = plain_layout(port);
    return {layout, cpu_engine(), at(port.slot.kind, port.slot.index, layout).data()};
  }
  void copy(dnnl::memory from, dnnl::memory to) {
    dnnl::reorder(from, to).execute(moment.stream, from, to);
    moment.stream.wait();
  }

  void run(const Kernel& kernel) {
    std::vector<dnnl::memory> memories;
    for (const auto* ports : {&kernel.reads, &kernel.writes})
      for (const Port& port : *ports) {
        if (relaid(port)) {
          memories.emplace_back(port.layout, cpu_engine());
          if (ports == &kernel.reads) copy(plain_memory(port), memories.back());
          continue;
        }
        memories.emplace_back(port.layout, cpu_engine(), at(port.slot.kind, port.slot.index, port.layout).data());
      }
    if (kernel.run) {
      kernel.run(moment, memories);
      moment.stream.wait();
      for (std::size_t i = 0; i < kernel.writes.size(); ++i)
        if (relaid(kernel.writes[i])) copy(memories[kernel.reads.size() + i], plain_memory(kernel.writes[i]));
      return;
    }
    const auto from = at(kernel.reads[0].slot.kind, kernel.reads[0].slot.index, kernel.reads[0].layout);
    const auto to = at(kernel.writes[0].slot.kind, kernel.writes[0].slot.index, kernel.writes[0].layout);
    std::ranges::copy(from, to.begin());
    if (!kernel.talk || kernel.talk->phase != Talk::Phase::start) return;
    if (kernel.talk->type == Talk::Type::floats) return comm::run(*comm, kernel.talk->moves, to);
    std::vector<double> numbers(to.size() / 2);
    std::memcpy(numbers.data(), to.data(), to.size_bytes());
    comm::run(*comm, kernel.talk->moves, std::span(numbers));
    std::memcpy(to.data(), numbers.data(), to.size_bytes());
  }

  std::map<Key, std::vector<float>> slots_;
};

}  // namespace isobar::ops
