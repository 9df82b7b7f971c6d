#include "isobar/ops/moved_rows.hpp"

#include <algorithm>

#include "isobar/base/loops.hpp"
#include "isobar/ops/copy_rows.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

Interval common(const Interval& a, const Interval& b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }

// Some rows of an axis in memory: `outer` times `rows` times `inner` numbers.
struct AxisRows {
  std::int64_t outer, inner;
  Interval held;

  std::int64_t count(const Interval& some) const { return outer * inner * some.extent(); }
  std::int64_t pitch() const { return inner * held.extent(); }
  float* at(float* memory, const Interval& some) const { return memory + (some.begin - held.begin) * inner; }
};

// Some rows, and where they lie in the letter.
struct Parcel {
  Interval rows;
  std::int64_t at;
};

void add_rows(std::int64_t outer, std::int64_t length, const float* from, float* to, std::int64_t pitch) {
  const auto add = [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin; o < end; ++o)
      for (std::int64_t i = 0; i < length; ++i) to[o * pitch + i] += from[o * length + i];
  };
  in_parts(outer, add, std::max<std::int64_t>(1, loop_part / std::max<std::int64_t>(1, length)));
}

void clear_rows(const AxisRows& rows, const Interval& some, float* memory) {
  if (some.empty()) return;
  float* const first = rows.at(memory, some);
  for (std::int64_t o = 0; o < rows.outer; ++o) std::fill_n(first + o * rows.pitch(), rows.inner * some.extent(), 0.0f);
}

// One letter for what is sent to all and what arrives from all. Ranks that want the same rows read the same copy.
struct Letter {
  std::vector<Parcel> sent, received;  // what is received lies behind what is sent
  comm::Schedule moves{comm::Round()};
  std::int64_t count = 0, outgoing = 0;

  Letter(const MovedRows& moved, const AxisRows& size) {
    const int rank = moved.seat.rank;
    const auto range = [&](const Parcel& parcel) {
      return comm::Range{static_cast<std::size_t>(parcel.at), static_cast<std::size_t>(size.count(parcel.rows))};
    };
    const auto add = [&](std::vector<Parcel>& list, const Interval& rows) {
      list.push_back({rows, count});
      count += size.count(rows);
      return list.back();
    };
    for (int peer = 0; peer < moved.seat.ranks; ++peer) {
      const Interval rows = common(moved.from[rank], moved.to[peer]);
      if (peer == rank || rows.empty()) continue;
      const auto known = std::ranges::find(sent, rows, &Parcel::rows);
      moves[0].push_back({comm::Move::Kind::send, peer, range(known == sent.end() ? add(sent, rows) : *known)});
    }
    outgoing = count;
    for (int peer = 0; peer < moved.seat.ranks; ++peer) {
      const Interval rows = common(moved.from[peer], moved.to[rank]);
      if (peer == rank || rows.empty()) continue;
      moves[0].push_back({comm::Move::Kind::receive, peer, range(add(received, rows))});
    }
  }
};

}  // namespace

bool MovedRows::sends() const {
  for (std::size_t a = 0; a < from.size(); ++a)
    for (std::size_t b = 0; b < to.size(); ++b)
      if (a != b && !common(from[a], to[b]).empty()) return true;
  return false;
}

std::vector<Kernel> MovedRows::kernels(Slot source, const Shape& shape, Slot result, int number, int scratch) const {
  const Interval have = from[seat.rank], want = to[seat.rank], own = common(have, want);
  expects(shape[axis] == have.extent(), "as many rows as this rank has");
  Shape wanted = shape;
  wanted[axis] = want.extent();
  const AxisRows read{shape.count(0, axis), shape.count(axis + 1, shape.rank()), have},
      written{read.outer, read.inner, want};
  const bool talks = sends();
  const Slot own_rows = talks ? Slot{Kind::temp, scratch} : result;
  Kernel copy{"own rows", Category::copy, {{source, plain(shape)}}, {{own_rows, plain(wanted)}}};
  copy.run = [=, adds = adds](const Moment&, std::span<const dnnl::memory> m) {
    float *const x = floats(m[0]), *const y = floats(m[1]);
    if (!own.empty())
      copy_rows(read.outer, read.inner * own.extent(), read.at(x, own), read.pitch(), written.at(y, own),
                written.pitch());
    if (!adds) return;
    clear_rows(written, {want.begin, own.empty() ? want.end : own.begin}, y);
    if (!own.empty()) clear_rows(written, {own.end, want.end}, y);
  };
  if (!talks) return {copy};

  const Letter letter(*this, read);
  const Layout buffer = plain({std::max<std::int64_t>(1, letter.count)});
  Kernel pack{"pack", Category::communication, {{source, plain(shape)}}, {{{Kind::temp, scratch + 1}, buffer}}};
  pack.bytes = 2.0 * sizeof(float) * letter.outgoing;
  pack.run = [=, sent = letter.sent](const Moment&, std::span<const dnnl::memory> m) {
    for (const Parcel& parcel : sent) {
      const std::int64_t length = read.inner * parcel.rows.extent();
      copy_rows(read.outer, length, read.at(floats(m[0]), parcel.rows), read.pitch(), floats(m[1]) + parcel.at, length);
    }
  };
  Kernel unpack{"unpack",
                Category::communication,
                {{own_rows, plain(wanted)}, {{Kind::temp, scratch + 3}, buffer}},
                {{result, plain(wanted), 0}}};
  unpack.bytes = (adds ? 3.0 : 2.0) * sizeof(float) * (letter.count - letter.outgoing);
  unpack.run = [=, adds = adds, received = letter.received](const Moment&, std::span<const dnnl::memory> m) {
    float* const y = floats(m[2]);
    if (y != floats(m[0])) copy_rows(1, written.count(want), floats(m[0]), 0, y, 0);
    for (const Parcel& parcel : received) {
      const std::int64_t length = read.inner * parcel.rows.extent();
      const float* const arrived = floats(m[1]) + parcel.at;
      if (adds) add_rows(read.outer, length, arrived, written.at(y, parcel.rows), written.pitch());
      else copy_rows(read.outer, length, arrived, length, written.at(y, parcel.rows), written.pitch());
    }
  };
  std::vector<Kernel> both = conversation(seat, number, buffer, scratch + 1, letter.moves);
  std::vector<Kernel> list;
  for (Kernel* kernel : {&pack, &both[0], &copy, &both[1], &unpack}) list.push_back(std::move(*kernel));
  return list;
}

}  // namespace isobar::ops
