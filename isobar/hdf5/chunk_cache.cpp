#include "isobar/hdf5/chunk_cache.hpp"

#include <algorithm>
#include <atomic>

#include "isobar/base/error.hpp"

namespace isobar::hdf5 {

ChunkCache& ChunkCache::mine() {
  static thread_local ChunkCache cache;
  return cache;
}

std::uint64_t ChunkCache::new_array() {
  static std::atomic<std::uint64_t> next = 1;
  return next++;
}

std::span<const std::byte> ChunkCache::find(std::uint64_t array, std::int64_t chunk) {
  const auto found =
      std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.chunk == chunk && entry.array == array; });
  if (found == entries_.end()) return {};
  entries_.splice(entries_.begin(), entries_, found);
  return {found->memory.get(), found->bytes};
}

std::span<std::byte> ChunkCache::make_room(std::uint64_t array, std::int64_t chunk, std::size_t bytes) {
  expects(bytes <= largest, "a chunk that may be kept");
  std::unique_ptr<std::byte[]> memory;
  while (!entries_.empty() && (held_ + bytes > usual || entries_.size() >= most_chunks)) {
    Entry& oldest = entries_.back();
    held_ -= oldest.bytes;
    if (oldest.bytes == bytes) memory = std::move(oldest.memory);  // chunks of one array have one size
    entries_.pop_back();
  }
  if (!memory) memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
  entries_.push_front({array, chunk, bytes, std::move(memory)});
  held_ += bytes;
  return {entries_.front().memory.get(), bytes};
}

void ChunkCache::forget() {
  held_ -= entries_.front().bytes;
  entries_.pop_front();
}

}  // namespace isobar::hdf5
