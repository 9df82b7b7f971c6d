// The chunks a thread decoded last, so that reading rows one after another does not decode a shared chunk twice. One
// cache per thread, so no lock; at most 256 chunks and 32 MiB, or one chunk of up to 256 MiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>

namespace isobar::hdf5 {

class ChunkCache {
 public:
  /// The cache of this thread.
  static ChunkCache& mine();
  /// A number for an array that is never given to another one.
  static std::uint64_t new_array();

  /// The bytes of a chunk, or an empty span; valid until the next make_room().
  std::span<const std::byte> find(std::uint64_t array, std::int64_t chunk);
  /// Room for the bytes of a chunk, which find() returns from now on: fill it, or forget() it. `bytes` <= largest.
  std::span<std::byte> make_room(std::uint64_t array, std::int64_t chunk, std::size_t bytes);
  /// Drops the chunk made last.
  void forget();

  static constexpr std::size_t most_chunks = 256;
  static constexpr std::size_t usual = std::size_t{32} << 20, largest = std::size_t{256} << 20;

 private:
  struct Entry {
    std::uint64_t array;
    std::int64_t chunk;
    std::size_t bytes;
    std::unique_ptr<std::byte[]> memory;
  };

  std::list<Entry> entries_;  // most recently used first
  std::size_t held_ = 0;
};

}  // namespace isobar::hdf5
