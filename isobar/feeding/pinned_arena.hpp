// PinnedArena: the memory of a loader's batches, in one piece. Page-aligned, with huge pages where the system provides
// them, and not touched here: a page is placed in the memory nearest to the reader that first writes to it.
#pragma once

#include <cstddef>
#include <vector>

namespace isobar::feeding {

class PinnedArena {
 public:
  /// Allocates memory for pieces of these lengths in bytes; failure is an Error.
  explicit PinnedArena(const std::vector<std::size_t>& lengths);
  ~PinnedArena();
  PinnedArena(const PinnedArena&) = delete;
  PinnedArena& operator=(const PinnedArena&) = delete;

  /// Piece number `index`, beginning at a page; zero until written to.
  std::byte* piece(std::size_t index) const { return base_ + offsets_[index]; }
  std::size_t size() const { return bytes_; }
  /// Whether its pages stay in memory once written to; the system may allow less than that (ulimit -l).
  bool locked() const { return locked_; }

 private:
  std::vector<std::size_t> offsets_;
  std::size_t bytes_ = 0, mapped_ = 0;
  std::byte* mapping_ = nullptr;  // what was mapped; base_ is aligned in it
  std::byte* base_ = nullptr;
  bool locked_ = false;
};

}  // namespace isobar::feeding
