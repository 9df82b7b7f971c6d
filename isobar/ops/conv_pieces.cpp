#include "isobar/ops/conv_pieces.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

constexpr std::size_t alignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

bool is_batch(const ConvCase& problem, Slot slot) {
  return slot == Slot{Kind::x, 0} || slot == Slot{Kind::y, 0} || slot == Slot{Kind::dx, 0} || slot == problem.dz;
}

// Where the memory of a port of a piece's kernel is.
struct Place {
  enum class In { read, written, workspace } in;  // a port of the whole kernel, or its workspace
  std::size_t port;
  std::size_t offset;  // bytes from its beginning
  Layout layout;
};

struct Call {
  Kernel kernel;
  std::vector<Place> places;
};

// A partial gradient in the workspace that is added to a port of the whole kernel.
struct PieceSum {
  Place from;
  std::size_t port;
  dnnl::reorder add;
};

struct Step {
  std::vector<Call> calls;
  std::vector<PieceSum> sums;
};

class Assembly {
 public:
  Assembly(const Setting& setting, const ConvCase& problem, Direction direction)
      : setting_(setting), problem_(problem), direction_(direction) {}

  bool add(const Piece& piece) {
    const auto methods = conv_methods();
    const auto method = std::ranges::find(methods, piece.method, [](const ConvMethod* m) { return m->name; });
    if (method == methods.end()) return false;
    ConvCase part = problem_.of(piece.samples);
    auto made = (*method)->make(setting_, part, direction_);
    if (!made) return false;
    used_ = 0;
    temporaries_.clear();
    Step step;
    for (Kernel& kernel : *made) step.calls.push_back(call(std::move(kernel), step.sums));
    steps_.push_back(std::move(step));
    workspace_ = std::max(workspace_, used_);
    samples_ += piece.samples;
    return true;
  }

  Kernel take() {
    Kernel whole{std::string(direction_name(direction_)),
                 direction_ == Direction::forward ? Category::forward_convolution : Category::backward_convolution};
    whole.flops = problem_.flops;
    whole.reads = std::move(reads_);
    whole.writes = std::move(writes_);
    whole.writes.push_back({{Kind::temp, first_scratch + problem_.temporary},
                            plain({static_cast<std::int64_t>(std::max(workspace_, alignment) / sizeof(float))})});
    whole.run = [steps = std::move(steps_), reads = whole.reads.size()](const Moment& moment,
                                                                        std::span<const dnnl::memory> memories) {
      dnnl::stream stream = moment.stream;
      const dnnl::engine engine = stream.get_engine();
      const auto memory = [&](const Place& place) {
        const std::size_t at = place.in == Place::In::read      ? place.port
                               : place.in == Place::In::written ? reads + place.port
                                                                : memories.size() - 1;
        return dnnl::memory(place.layout, engine,
                            static_cast<std::byte*>(memories[at].get_data_handle()) + place.offset);
      };
      for (const Step& step : steps) {
        for (const Call& call : step.calls) {
          std::vector<dnnl::memory> own;
          for (const Place& place : call.places) own.push_back(memory(place));
          call.kernel.run(moment, own);
          stream.wait();
        }
        for (const PieceSum& sum : step.sums) {
          const dnnl::memory from = memory(sum.from);
          const dnnl::memory& to = memories[reads + sum.port];
          sum.add.execute(stream, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
          stream.wait();
        }
      }
    };
    return whole;
  }

 private:
  Call call(Kernel kernel, std::vector<PieceSum>& sums) {
    Call made;
    for (const Port& port : kernel.reads) made.places.push_back(read(port));
    for (const Port& port : kernel.writes) made.places.push_back(write(port, sums));
    made.kernel = std::move(kernel);
    return made;
  }

  std::size_t reserve(std::size_t bytes) {
    const std::size_t at = used_;
    used_ += aligned(bytes);
    return at;
  }

  Place read(const Port& port) {
    if (port.slot.kind == Kind::temp && port.slot != problem_.dz)
      return {Place::In::workspace, 0, temporaries_.at(port.slot.index), port.layout};
    const bool batch = is_batch(problem_, port.slot);
    const Layout whole = batch ? whole_layout(port.slot) : port.layout;
    auto found = std::ranges::find_if(
        reads_, [&](const Port& known) { return known.slot == port.slot && known.layout == whole; });
    if (found == reads_.end()) found = reads_.insert(reads_.end(), {port.slot, whole});
    return {Place::In::read, static_cast<std::size_t>(found - reads_.begin()), batch ? batch_offset(port.slot) : 0,
            port.layout};
  }

  Place write(const Port& port, std::vector<PieceSum>& sums) {
    if (port.slot.kind == Kind::temp)
      return {Place::In::workspace, 0, temporaries_[port.slot.index] = reserve(port.layout.get_size()), port.layout};
    const bool batch = is_batch(problem_, port.slot);
    auto found = std::ranges::find(writes_, port.slot, &Port::slot);
    const bool is_new = found == writes_.end();
    if (is_new) found = writes_.insert(found, {port.slot, batch ? whole_layout(port.slot) : port.layout});
    const std::size_t number = found - writes_.begin();
    if (batch || is_new) return {Place::In::written, number, batch ? batch_offset(port.slot) : 0, port.layout};
    const Place partial{Place::In::workspace, 0, reserve(port.layout.get_size()), port.layout};
    dnnl::primitive_attr attributes;
    dnnl::post_ops add;
    add.append_sum(1.0f);
    attributes.set_post_ops(add);
    const dnnl::reorder::primitive_desc chosen(setting_.engine, port.layout, setting_.engine, found->layout,
                                               attributes);
    sums.push_back({partial, number, dnnl::reorder(chosen)});
    return partial;
  }

  bool is_result(Slot slot) const { return slot == Slot{Kind::y, 0} || slot == problem_.dz; }
  Layout whole_layout(Slot slot) const { return is_result(slot) ? problem_.y_layout : problem_.x_layout; }
  std::size_t batch_offset(Slot slot) const {
    const Shape& shape = is_result(slot) ? problem_.y : problem_.x;
    return static_cast<std::size_t>(samples_ * (shape.count() / shape[0])) * sizeof(float);
  }

  const Setting& setting_;
  const ConvCase& problem_;
  Direction direction_;
  std::vector<Port> reads_, writes_;
  std::vector<Step> steps_;
  std::map<int, std::size_t> temporaries_;
  std::size_t used_ = 0, workspace_ = 0;
  std::int64_t samples_ = 0;
};

}  // namespace

std::optional<std::vector<Kernel>> chosen_kernels(const Setting& setting, const ConvCase& problem, Direction direction,
                                                  const Choice& choice) {
  std::int64_t samples = 0;
  for (const Piece& piece : choice.pieces) {
    if (piece.samples < 1 || piece.samples > problem.x[0] - samples) return std::nullopt;
    samples += piece.samples;
  }
  if (samples != problem.x[0]) return std::nullopt;
  const std::string suffix = " by " + choice_text(choice);
  if (choice.pieces.size() == 1) {
    for (const ConvMethod* method : conv_methods()) {
      if (method->name != choice.pieces[0].method) continue;
      auto made = method->make(setting, problem, direction);
      if (made) made->back().name += suffix;
      return made;
    }
    return std::nullopt;
  }
  Assembly assembly(setting, problem, direction);
  for (const Piece& piece : choice.pieces)
    if (!assembly.add(piece)) return std::nullopt;
  Kernel whole = assembly.take();
  whole.name += suffix;
  return one_kernel(std::move(whole));
}

std::size_t workspace_bytes(std::span<const Kernel> kernels) {
  std::size_t bytes = 0;
  for (const Kernel& kernel : kernels)
    for (const Port& port : kernel.writes)
      if (port.slot.kind == Kind::temp) bytes += port.layout.get_size();
  return bytes;
}

std::string choice_text(const Choice& choice) {
  const auto& pieces = choice.pieces;
  if (pieces.size() == 1) return pieces[0].method;
  std::string text;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool same = i > 0 && pieces[i].method == pieces[i - 1].method;
    text += same ? fmt::format("+{}", pieces[i].samples)
                 : fmt::format("{}{} {}", i > 0 ? " + " : "", pieces[i].method, pieces[i].samples);
  }
  return text;
}

}  // namespace isobar::ops
