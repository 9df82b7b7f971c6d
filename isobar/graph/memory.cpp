// The memory plan: which buffers may overwrite which, and an offset in one arena for everything else.
// Buffers that share bytes form a storage, live from its first write to its last read. Storages are placed largest
// first, each at the lowest offset that is free during its lifetime. Gradients in the arena are placed beforehand:
// contiguously, each live from the step that writes it to the end.
#include <algorithm>
#include <cstring>

#include "isobar/base/error.hpp"
#include "isobar/graph/plan.hpp"

namespace isobar::graph {
namespace {

constexpr std::size_t alignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

struct Storage {
  BufferId root;  // none: a gradient
  std::size_t bytes;
  StepId first, last;
  std::size_t offset = 0;
};

class MemoryPlanner {
 public:
  MemoryPlanner(Plan& plan, const Wishes& wishes, const PlanOptions& options)
      : plan_(plan), wishes_(wishes), options_(options) {
    for (const BufferId b : plan.buffers.ids()) root_.push_back(b);
  }

  void run() {
    find_lives();
    share();
    place();
  }

 private:
  Buffer& buffer(BufferId b) { return plan_.buffers[b]; }

  void find_lives() {
    const StepId end = plan_.steps.next();
    for (Buffer& b : plan_.buffers) b.first = end, b.last = {};
    for (const StepId s : plan_.steps.ids()) {
      for (const BufferId b : plan_.steps[s].buffers) {
        buffer(b).first = std::min(buffer(b).first, s);
        buffer(b).last = std::max(buffer(b).last, s);
      }
    }
    for (const auto& [name, b] : plan_.outputs) buffer(b).last = end;
    if (plan_.gradients_in_arena)
      for (Buffer& b : plan_.buffers)
        if (b.home == Home::gradient) b.last = end;
  }

  // Whether anything with the bytes of `b` is read after step s.
  bool alive_after(BufferId b, StepId s) {
    for (const BufferId other : root_.ids())
      if (root_[other] == root_[b] && plan_.buffers[other].last > s) return true;
    return false;
  }

  void unite(BufferId b, BufferId with) {
    root_[b] = root_[with];
    buffer(b).shares_with = with;
    const Buffer& root = buffer(root_[b]);
    buffer(b).home = root.home;
    buffer(b).input = root.input;
    buffer(b).parameter = root.parameter;
  }

  void share() {
    for (const StepId s : plan_.steps.ids()) {
      PlanStep& step = plan_.steps[s];
      for (std::size_t i = step.reads; i < step.buffers.size(); ++i) {
        const BufferId b = step.buffers[i], wish = wishes_[b];
        if (!wish) continue;
        const bool view = !step.run;
        const bool fits = buffer(b).home == Home::arena && buffer(b).bytes == buffer(wish).bytes;
        const bool may_write = options_.in_place && buffer(wish).home == Home::arena && !alive_after(wish, s);
        if (view ? fits : fits && may_write) {
          unite(b, wish);
        } else if (view) {
          expects(!step.talk, "messages in memory of the arena");
          step.kernel += " (copy)";
          step.category = Category::copy;
          step.bytes = 2.0 * buffer(b).bytes;
          step.run = [bytes = buffer(b).bytes](const ops::Moment&, std::span<const dnnl::memory> m) {
            std::memcpy(m[1].get_data_handle(), m[0].get_data_handle(), bytes);
          };
        }
      }
    }
    // Views cost nothing and need no step, but a gradient may become final with a view.
    for (PlanStep& step : plan_.steps)
      if (!step.run && !step.talk) step.run = [](const ops::Moment&, std::span<const dnnl::memory>) {};
  }

  std::vector<Storage> storages() const {
    std::vector<Storage> all;
    for (const BufferId root : root_.ids()) {
      if (root_[root] != root || plan_.buffers[root].home != Home::arena) continue;
      Storage storage{root, 0, plan_.steps.next(), {}};
      for (const BufferId b : root_.ids()) {
        if (root_[b] != storage.root) continue;
        storage.bytes = std::max(storage.bytes, plan_.buffers[b].bytes);
        storage.first = std::min(storage.first, plan_.buffers[b].first);
        storage.last = std::max(storage.last, plan_.buffers[b].last);
      }
      all.push_back(storage);
    }
    std::stable_sort(all.begin(), all.end(), [](const Storage& a, const Storage& b) { return a.bytes > b.bytes; });
    return all;
  }

  // In the order of a ParamStore, the first at offset 0. The place of a weight without gradient is zeroed after the
  // last step.
  std::vector<Storage> gradients() const {
    const StepId end = plan_.steps.next();
    IdVector<ParameterId, Storage> all;
    std::size_t offset = 0;
    for (const PlanParameter& p : plan_.parameters) {
      all.push_back({{}, stored_bytes(p), end, end, offset});
      offset += all.back().bytes;
    }
    for (const Buffer& b : plan_.buffers)
      if (b.home == Home::gradient) {
        Storage& storage = all[b.parameter];
        storage.first = std::min(storage.first, b.first);
      }
    return {all.begin(), all.end()};
  }

  // Gives every storage an offset that avoids those in `placed`; returns the bytes of the arena.
  std::size_t arrange(std::vector<Storage>& storages, std::vector<Storage> placed) const {
    std::size_t arena_bytes = 0;
    for (const Storage& fixed : placed) arena_bytes = std::max(arena_bytes, fixed.offset + fixed.bytes);
    for (Storage& storage : storages) {
      std::vector<std::pair<std::size_t, std::size_t>> taken;  // [begin, end) in bytes
      for (const Storage& other : placed)
        if (!options_.share_memory || (other.first <= storage.last && storage.first <= other.last))
          taken.emplace_back(other.offset, other.offset + aligned(other.bytes) + guard());
      std::sort(taken.begin(), taken.end());
      storage.offset = 0;
      for (const auto& [begin, end] : taken) {
        if (storage.offset + aligned(storage.bytes) + guard() <= begin) break;
        storage.offset = std::max(storage.offset, end);
      }
      arena_bytes = std::max(arena_bytes, storage.offset + aligned(storage.bytes) + guard());
      placed.push_back(storage);
    }
    return arena_bytes;
  }

  void place() {
    std::vector<Storage> best = storages();
    plan_.arena_bytes = arrange(best, {});
    if (plan_.gradients_in_arena) place_with_gradients(best);
    for (const Storage& storage : best) buffer(storage.root).offset = storage.offset;
    for (const BufferId b : root_.ids()) plan_.buffers[b].offset = buffer(root_[b]).offset;
    plan_.guard_bytes = guard();
  }

  // At the bottom gradients displace long-lived storages, at the top short-lived ones: both are tried.
  void place_with_gradients(std::vector<Storage>& best) {
    const std::size_t all = plan_.weight_bytes(), without = plan_.arena_bytes;
    plan_.arena_bytes = 0;
    for (std::size_t eighths = 0; eighths <= 8; ++eighths) {
      const std::size_t base = aligned(without > all ? (without - all) / 8 * eighths : 0);
      std::vector<Storage> fixed = gradients(), tried = storages();
      for (Storage& gradient : fixed) gradient.offset += base;
      const std::size_t bytes = arrange(tried, std::move(fixed));
      if (plan_.arena_bytes > 0 && bytes >= plan_.arena_bytes) continue;
      plan_.arena_bytes = bytes;
      plan_.gradient_offset = base;
      best = std::move(tried);
    }
  }

  std::size_t guard() const { return aligned(options_.guard_bytes); }

  Plan& plan_;
  const Wishes& wishes_;
  const PlanOptions& options_;
  IdVector<BufferId, BufferId> root_;
};

}  // namespace

void plan_memory(Plan& plan, const Wishes& in_place_wishes, const PlanOptions& options) {
  MemoryPlanner(plan, in_place_wishes, options).run();
}

}  // namespace isobar::graph
