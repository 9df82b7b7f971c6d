#include "isobar/exec/executor.hpp"

#include <algorithm>
#include <cstring>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/tensor/engine.hpp"

namespace isobar::exec {

using graph::Buffer;
using graph::Home;
using graph::PlanStep;
using graph::StepId;

namespace {
constexpr int guard_pattern = 0xA5;
}

Executor::Executor(std::shared_ptr<const graph::Plan> plan, ParamStore& store, Trace* trace,
                   std::shared_ptr<Block> arena, const TalkSetting& talk)
    : shared_plan_(std::move(plan)),
      plan_(*shared_plan_),
      store_(store),
      trace_(trace),
      arena_(std::move(arena)),
      stream_(cpu_engine()),
      messages_(plan_, talk),
      input_uses_(plan_.inputs.size()),
      bound_(plan_.inputs.size(), nullptr) {
  if (!arena_ || arena_->size() < plan_.arena_bytes) arena_ = std::make_shared<Block>(plan_.arena_bytes);
  for (const graph::PlanParameter& p : plan_.parameters) {
    const int index = store.find(p.name);
    expects(index >= 0, "every parameter of the plan in the store");
    expects(p.layout.data.ndims == 0 || p.layout == store.parameter(index).layout, "the plan's layouts in the store");
    store_index_.push_back(index);
  }
  if (plan_.gradients_in_arena) find_gaps();
  for (const PlanStep& step : plan_.steps) {
    memories_.push_back({});
    auto& list = memories_.back();
    for (std::size_t i = 0; i < step.buffers.size(); ++i) {
      const Buffer& buffer = plan_.buffers[step.buffers[i]];
      list.emplace_back(step.layouts[i], cpu_engine(), address(buffer));
      if (buffer.home == Home::input) input_uses_[buffer.input].push_back(list.back());
    }
    if (trace_) trace_names_.push_back(trace_->intern(step.name + " " + step.kernel));
  }
}

// Parts of all_gradients() that no gradient writes: other values were there, and sums over all gradients read them.
void Executor::find_gaps() {
  std::vector<bool> made(store_.count());
  for (const PlanStep& step : plan_.steps)
    for (const graph::ParameterId p : step.final_parameters) made[store_index_[p]] = true;
  const std::span<float> all = store_.all_gradients();
  for (int p = 0; p < store_.count(); ++p) {
    const std::size_t begin = store_.offset(p) + (made[p] ? store_.gradient(p).size() : 0);
    const std::size_t end = p + 1 < store_.count() ? store_.offset(p + 1) : all.size();
    if (begin < end) gaps_.push_back(all.subspan(begin, end - begin));
  }
}

void* Executor::address(const Buffer& buffer) const {
  switch (buffer.home) {
    case Home::arena: return arena_->data() + buffer.offset;
    case Home::weight: return store_.weight(store_index_[buffer.parameter]).data();
    case Home::gradient: return store_.gradient(store_index_[buffer.parameter]).data();
    case Home::input: return const_cast<float*>(bound_[buffer.input]);
  }
  return nullptr;
}

void Executor::bind(const std::string& input, std::span<const float> data) {
  for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
    if (plan_.inputs[i].name != input) continue;
    if (std::ssize(data) != plan_.inputs[i].shape.count())
      fail("input '{}' has {} numbers, the plan expects {} = {}", input, data.size(), plan_.inputs[i].shape.str(),
           plan_.inputs[i].shape.count());
    bound_[i] = data.data();
    for (dnnl::memory& memory : input_uses_[i]) memory.set_data_handle(const_cast<float*>(data.data()));
    return;
  }
  std::vector<std::string> known;
  for (const graph::PlanInput& i : plan_.inputs) known.push_back(i.name);
  fail("the plan has no input '{}'{}", input, suggestion(input, known));
}

void Executor::forward(const Run& run) {
  messages_.withdraw();
  run_steps(StepId(0), StepId(plan_.forward_steps), run, {});
}

void Executor::backward(const Run& run, const std::function<void(int)>& ready) {
  run_steps(StepId(plan_.forward_steps), plan_.steps.next(), run, ready);
  for (const std::span<float> gap : gaps_) std::ranges::fill(gap, 0.0f);
}

void Executor::run_steps(StepId first, StepId last, const Run& run, const std::function<void(int)>& ready) {
  const std::int64_t batch = plan_.rows;
  ops::Moment moment{stream_, run.seed, run.epoch, run.samples, run.rows < 0 ? batch : run.rows, run.total, batch};
  if (moment.total < 0) moment.total = std::max<std::int64_t>(1, moment.rows);
  for (const StepId s : ids(first, last)) {
    const PlanStep& step = plan_.steps[s];
    if (observer_) observer_->before(step, seen(step, 0, step.reads, moment));
    const double begin = now_seconds();
    if (step.talk) {
      const Buffer& buffer = plan_.buffers[step.buffers[0]];
      messages_.run(step, {static_cast<std::byte*>(address(buffer)), buffer.bytes}, run.step);
    } else {
      step.run(moment, memories_[s]);
      stream_.wait();
    }
    if (observer_) observer_->after(step, seen(step, step.reads, step.buffers.size(), moment));
    if (trace_ && (step.flops > 0 || step.bytes > 0 || step.talk))
      trace_->record({step.category, trace_names_[s], run.step, begin, now_seconds() - begin, step.flops, step.bytes});
    if (ready)
      for (const graph::ParameterId p : step.final_parameters) ready(store_index_[p]);
  }
}

std::vector<Seen> Executor::seen(const PlanStep& step, std::size_t first, std::size_t last,
                                 const ops::Moment& moment) const {
  std::vector<Seen> list;
  for (std::size_t i = first; i < last; ++i) {
    const Buffer& buffer = plan_.buffers[step.buffers[i]];
    if (buffer.temporary || step.layouts[i].data_type() != Dtype::f32) continue;
    const std::span numbers(static_cast<const float*>(address(buffer)), buffer.bytes / sizeof(float));
    const bool has_rows = (buffer.home == Home::arena || buffer.home == Home::input) && moment.batch > 0 &&
                          step.layouts[i].dims()[0] == moment.batch;
    const auto length = numbers.size() / std::max<std::int64_t>(1, moment.batch);
    if (has_rows) list.push_back({&buffer, numbers.first(length * moment.rows), moment.rows});
    else list.push_back({&buffer, numbers, 0});
  }
  return list;
}

std::span<const float> Executor::output(const std::string& name) const {
  const auto found = plan_.outputs.find(name);
  expects(found != plan_.outputs.end(), "a named output of the plan");
  const Buffer& buffer = plan_.buffers[found->second];
  return std::span(static_cast<const float*>(address(buffer)), plan_.output_shapes.at(name).count());
}

void Executor::poison() { std::memset(arena_->data(), guard_pattern, arena_->size()); }

std::vector<std::string> Executor::damaged_guards() const {
  std::vector<std::string> damaged;
  for (const Buffer& b : plan_.buffers) {
    if (b.home != Home::arena || b.bytes == 0 || plan_.guard_bytes == 0) continue;
    const std::byte* const end = arena_->data() + b.offset + b.bytes;
    const bool intact =
        std::all_of(end, end + plan_.guard_bytes, [](std::byte v) { return v == std::byte{guard_pattern}; });
    if (!intact) damaged.push_back(b.name);
  }
  return damaged;
}

}  // namespace isobar::exec
