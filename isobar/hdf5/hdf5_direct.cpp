#include "isobar/hdf5/hdf5_direct.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

#include "isobar/base/error.hpp"
#include "isobar/files/gzip.hpp"
#include "isobar/files/read_count.hpp"
#include "isobar/hdf5/chunk_cache.hpp"

namespace isobar::hdf5 {
namespace {

constexpr std::int64_t long_run = 64 << 10;        // bytes that are worth a separate system call
constexpr std::int64_t short_gap = 8 << 10;        // bytes between runs that are read too, in place of another call
constexpr std::int64_t block_bytes = 1 << 20;      // read at once if runs and gaps are shorter
constexpr std::int64_t convert_bytes = 128 << 10;  // converted at once, so that they stay in the cache

void read_at(const Hdf5Storage& storage, std::int64_t offset, std::span<std::byte> to) {
  while (!to.empty()) {
    const ssize_t got = ::pread(storage.descriptor, to.data(), to.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("{}: cannot read '{}': {}", storage.file.string(), storage.name, std::strerror(errno));
    if (got == 0) fail("{}: ends in the middle of '{}'", storage.file.string(), storage.name);
    offset += got;
    to = to.subspan(got);
    files::bytes_read_here() += got;
  }
}

/// One request: reads a box of the array into `out`.
template <class T>
class BoxReading {
 public:
  BoxReading(const Hdf5Storage& storage, Indices from, Indices extent, T* out)
      : storage_(storage),
        from_(from),
        extent_(extent),
        out_(out),
        bytes_(storage.stored.bytes),
        decode_(decoder<T>(storage.stored)),
        same_(files::stored_as<T>(storage.stored)) {
    expects(decode_ != nullptr, "a type that is decoded here");
  }

  void run() {
    const IndexArray origin(extent_.size());
    if (storage_.kind == Hdf5Storage::Kind::compact)
      return decode_box(storage_.held.data(), 0, storage_.extents(), from_, extent_, origin);
    if (storage_.kind == Hdf5Storage::Kind::chunked) return read_chunks();
    if (storage_.offset < 0) return fill_box(extent_, origin);
    read_piece(storage_.offset, storage_.extents(), from_, extent_, origin);
  }

 private:
  // `memory` holds a region of extents `region` from its number `first` on.
  void decode_box(const std::byte* memory, std::int64_t first, Indices region, Indices at, Indices part, Indices to) {
    for_each_run(part, region, at, extent_, to, [&](std::int64_t source, std::int64_t target, std::int64_t count) {
      decode_(memory + (source - first) * bytes_, out_ + target, count);
    });
  }

  void fill_box(Indices part, Indices to) {
    T value;
    decode_(storage_.fill.data(), &value, 1);
    for_each_run(
        part, part, IndexArray(part.size()), extent_, to,
        [&](std::int64_t, std::int64_t target, std::int64_t count) { std::fill_n(out_ + target, count, value); });
  }

  void read_run(std::int64_t offset, T* to, std::int64_t count) {
    if (same_) return read_at(storage_, offset, std::as_writable_bytes(std::span(to, count)));
    static thread_local files::ByteBuffer scratch;
    for (const std::int64_t most = convert_bytes / bytes_; count > 0;) {
      const std::int64_t some = std::min(most, count);
      const std::span<std::byte> stored = std::as_writable_bytes(scratch.take(some * bytes_));
      read_at(storage_, offset, stored);
      decode_(stored.data(), to, some);
      offset += some * bytes_, to += some, count -= some;
    }
  }

  // Reads `part`, at `at` in a region stored unfiltered at `offset` in the file, to `to` in the box.
  void read_piece(std::int64_t offset, Indices region, Indices at, Indices part, Indices to) {
    const std::size_t axis = run_axis(part, region, extent_);
    const std::int64_t run = box_count(part.subspan(axis));
    const std::size_t near = axis == 0 || run * bytes_ >= long_run ? axis : first_near(region, part, axis, run);
    if (near == axis) {
      for_each_run(part, region, at, extent_, to, [&](std::int64_t source, std::int64_t target, std::int64_t count) {
        read_run(offset + source * bytes_, out_ + target, count);
      });
      return;
    }
    // Short runs, close together: blocks of neighbouring rows are read, including the gaps between the runs.
    std::size_t k = near;
    while (k + 1 < region.size() && box_count(region.subspan(k + 1)) * bytes_ > block_bytes) ++k;
    const std::int64_t rows = std::max<std::int64_t>(1, block_bytes / (box_count(region.subspan(k + 1)) * bytes_));
    IndexArray block(part), block_at(at), block_to(to);
    for (std::size_t a = 0; a < k; ++a) block[a] = 1;
    read_blocks(offset, region, at, part, to, k, rows, 0, block, block_at, block_to);
  }

  // The first axis from which on all gaps between the runs of `part` are short; `axis` if none is.
  std::size_t first_near(Indices region, Indices part, std::size_t axis, std::int64_t run) const {
    std::int64_t step = box_count(region.subspan(axis)), span = run;
    for (; axis > 0; --axis) {
      if (part[axis - 1] > 1 && (step - span) * bytes_ > short_gap) break;
      span += (part[axis - 1] - 1) * step;
      step *= region[axis - 1];
    }
    return axis;
  }

  void read_blocks(std::int64_t offset, Indices region, Indices at, Indices part, Indices to, std::size_t k,
                   std::int64_t rows, std::size_t axis, IndexArray& block, IndexArray& block_at, IndexArray& block_to) {
    for (std::int64_t i = 0; i < part[axis]; i += axis < k ? 1 : rows) {
      block_at[axis] = at[axis] + i;
      block_to[axis] = to[axis] + i;
      if (axis < k) {
        read_blocks(offset, region, at, part, to, k, rows, axis + 1, block, block_at, block_to);
        continue;
      }
      block[k] = std::min(rows, part[k] - i);
      IndexArray last(block_at);
      for (std::size_t a = 0; a < last.rank; ++a) last[a] += block[a] - 1;
      const std::int64_t first = flat_index(region, block_at), count = flat_index(region, last) - first + 1;
      static thread_local files::ByteBuffer scratch;
      const std::span<std::byte> stored = std::as_writable_bytes(scratch.take(count * bytes_));
      read_at(storage_, offset + first * bytes_, stored);
      decode_box(stored.data(), first, region, block_at, block, block_to);
    }
  }

  void read_chunks() {
    // The chunks that the box touches, some at a time: looking them up takes memory.
    constexpr std::size_t at_once = 4096;
    const std::size_t rank = extent_.size();
    IndexArray low(rank), count(rank);
    for (std::size_t a = 0; a < rank; ++a) {
      low[a] = from_[a] / storage_.chunk[a];
      count[a] = (from_[a] + extent_[a] - 1) / storage_.chunk[a] - low[a] + 1;
    }
    std::vector<std::int64_t> numbers;
    const auto flush = [&] {
      const std::vector<Hdf5Chunk> found = storage_.chunks->find(numbers);
      for (std::size_t i = 0; i < numbers.size(); ++i) read_chunk(numbers[i], found[i]);
      numbers.clear();
    };
    for_each_run(count, storage_.chunks->grid(), low, count, IndexArray(rank),
                 [&](std::int64_t source, std::int64_t, std::int64_t run) {
                   for (std::int64_t i = 0; i < run; ++i) {
                     numbers.push_back(source + i);
                     if (numbers.size() == at_once) flush();
                   }
                 });
    flush();
  }

  void read_chunk(std::int64_t number, const Hdf5Chunk& chunk) {
    const std::size_t rank = extent_.size();
    IndexArray at(rank), part(rank), to(rank), start(rank);
    bool whole = true, edge = false;
    const Indices grid = storage_.chunks->grid();
    for (std::size_t a = rank, rest = number; a-- > 0;) {
      const std::size_t along = grid[a];
      start[a] = static_cast<std::int64_t>(rest % along) * storage_.chunk[a];
      rest /= along;
      const std::int64_t inside = std::min(storage_.chunk[a], storage_.extents()[a] - start[a]);
      const std::int64_t low = std::max(from_[a], start[a]);
      part[a] = std::min(from_[a] + extent_[a], start[a] + inside) - low;
      at[a] = low - start[a];
      to[a] = low - from_[a];
      whole = whole && part[a] == inside;
      edge = edge || inside != storage_.chunk[a];
    }
    if (chunk.offset < 0) return fill_box(part, to);
    const auto wrong = [&](std::string_view what) {
      fail("{}: '{}', chunk at [{}]: {}", storage_.file.string(), storage_.name, fmt::join(Indices(start), ", "), what);
    };
    if (chunk.bytes < 0 || chunk.offset > storage_.file_bytes || chunk.bytes > storage_.file_bytes - chunk.offset)
      wrong(fmt::format("its {} bytes at {} go beyond the end of the file", chunk.bytes, chunk.offset));
    std::span<const Hdf5Filter> filters = storage_.filters;
    if (edge && storage_.plain_edges) filters = {};
    if (filters.empty()) {
      if (chunk.bytes != storage_.chunk_bytes)
        wrong(fmt::format("has {} bytes in place of {}", chunk.bytes, storage_.chunk_bytes));
      return read_piece(chunk.offset, storage_.chunk, at, part, to);
    }
    const std::size_t expanded = storage_.chunk_bytes;
    const std::size_t stored_bytes = chunk.bytes;
    ChunkCache& cache = ChunkCache::mine();
    if (const std::span<const std::byte> held = cache.find(storage_.number, number); !held.empty())
      return decode_box(held.data(), 0, storage_.chunk, at, part, to);
    if (!can_expand(filters, chunk.skipped, stored_bytes, expanded))
      wrong(fmt::format("its {} bytes cannot become {}", stored_bytes, expanded));
    static thread_local files::ByteBuffer raw, decoded;
    const std::span<std::byte> stored = std::as_writable_bytes(raw.take(stored_bytes));
    read_at(storage_, chunk.offset, stored);
    const auto undo = [&](std::span<std::byte> into) { return undo_filters(filters, chunk.skipped, stored, into); };

    const bool straight = same_ && whole && !edge && run_axis(part, storage_.chunk, extent_) == 0;
    if (straight) {
      T* const target = out_ + flat_index(extent_, to);
      if (const std::string what = undo({reinterpret_cast<std::byte*>(target), expanded}); !what.empty()) wrong(what);
      return;
    }
    const bool keep = !whole && expanded <= ChunkCache::largest;
    const std::span<std::byte> into =
        keep ? cache.make_room(storage_.number, number, expanded) : std::as_writable_bytes(decoded.take(expanded));
    if (const std::string what = undo(into); !what.empty()) {
      if (keep) cache.forget();
      wrong(what);
    }
    decode_box(into.data(), 0, storage_.chunk, at, part, to);
  }

  const Hdf5Storage& storage_;
  Indices from_, extent_;
  T* out_;
  std::int64_t bytes_;
  files::Decoder<T> decode_;
  bool same_;
};

}  // namespace

template <class T>
void read_direct(const Hdf5Storage& storage, Indices from, Indices extent, T* out) {
  BoxReading<T>(storage, from, extent, out).run();
}

template void read_direct(const Hdf5Storage&, Indices, Indices, float*);
template void read_direct(const Hdf5Storage&, Indices, Indices, double*);
template void read_direct(const Hdf5Storage&, Indices, Indices, std::int16_t*);
template void read_direct(const Hdf5Storage&, Indices, Indices, std::int32_t*);
template void read_direct(const Hdf5Storage&, Indices, Indices, std::int64_t*);
template void read_direct(const Hdf5Storage&, Indices, Indices, std::uint8_t*);

}  // namespace isobar::hdf5
