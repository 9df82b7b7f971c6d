#include "isobar/hdf5/hdf5_chunks.hpp"

#include <mutex>

#include <hdf5.h>

#include "isobar/hdf5/hdf5_driver.hpp"
#include "isobar/hdf5/hdf5_lock.hpp"

namespace isobar::hdf5 {

Hdf5Chunks::Hdf5Chunks(Hdf5Id array, std::filesystem::path file, std::string name, Indices shape, Indices chunk)
    : array_(array), file_(std::move(file)), name_(std::move(name)), chunk_(chunk), grid_(chunk.size()) {
  for (std::size_t a = 0; a < chunk.size(); ++a) grid_[a] = shape[a] / chunk[a] + (shape[a] % chunk[a] != 0);
}

Hdf5Chunk Hdf5Chunks::look_up(std::int64_t number) const {
  std::array<hsize_t, most_axes> start{};
  for (std::size_t a = chunk_.rank; a-- > 0; number /= grid_[a]) start[a] = number % grid_[a] * chunk_[a];
  hsize_t bytes = 0;
  Hdf5Chunk chunk;
  if (H5Dget_chunk_storage_size(array_, start.data(), &bytes) < 0) {
    // For a chunk that was never written, some libraries return 0 and this one fails; other failures are examined
    // below.
    if (hdf5_reason() == "chunk storage is not allocated") return chunk;
    haddr_t address = HADDR_UNDEF;
    unsigned skipped = 0;
    checked_hdf5(H5Dget_chunk_info_by_coord(array_, start.data(), &skipped, &address, &bytes), file_, "find a chunk of",
                 name_);
    if (address == HADDR_UNDEF) return chunk;
  }
  if (bytes == 0) return chunk;
  Hdf5Probe probe;
  char untouched = 0;  // nothing is read while the probe exists
  checked_hdf5(H5Dread_chunk(array_, H5P_DEFAULT, start.data(), &chunk.skipped, &untouched), file_, "find a chunk of",
               name_);
  chunk.offset = probe.offset;
  chunk.bytes = probe.bytes;
  return chunk;
}

std::vector<Hdf5Chunk> Hdf5Chunks::find(std::span<const std::int64_t> numbers) const {
  std::vector<Hdf5Chunk> found(numbers.size());
  std::vector<std::size_t> unknown;
  {
    const std::shared_lock lock(guard_);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (const auto known = known_.find(numbers[i]); known != known_.end()) found[i] = known->second;
      else unknown.push_back(i);
    }
  }
  if (unknown.empty()) return found;
  {
    const auto library = lock_hdf5();
    for (const std::size_t i : unknown) found[i] = look_up(numbers[i]);
  }
  const std::unique_lock lock(guard_);
  for (const std::size_t i : unknown) known_.emplace(numbers[i], found[i]);
  return found;
}

}  // namespace isobar::hdf5
