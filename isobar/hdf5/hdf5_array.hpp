// Hdf5Array: one array of numbers in an HDF5 file, read by many threads at once. The library is asked once, under its
// lock, how the array is stored; reading then bypasses it: pread, and our own filters and conversions. Only rare cases
// (szip, nbit, scale-offset, external or virtual storage, odd types) are still read by the library, one thread at a
// time. A thread keeps the chunks it decoded last (isobar/hdf5/chunk_cache.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "isobar/files/stored_numbers.hpp"
#include "isobar/hdf5/hdf5_file.hpp"
#include "isobar/tensor/box.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::hdf5 {

struct Hdf5Storage;

/// T below: float, double, std::int16_t, std::int32_t, std::int64_t, std::uint8_t; stored numbers are converted to it.
class Hdf5Array {
 public:
  /// Opens an array of a file that is open for reading; the array may outlive `file`. An array that does not hold
  /// numbers, or uses an unknown filter, is an Error.
  Hdf5Array(const Hdf5File& file, std::string_view name);
  Hdf5Array(Hdf5Array&&) noexcept;
  Hdf5Array& operator=(Hdf5Array&&) noexcept;
  ~Hdf5Array();

  const Shape& shape() const;
  const files::Stored& stored() const;
  /// Whether reading bypasses the library.
  bool direct() const;
  /// How it is stored, in words: "int16", "float32, chunks of [4, 6], shuffle, gzip".
  std::string describe() const;
  /// The size in bytes of the file that holds the array: a bound for every size the array claims.
  std::int64_t file_bytes() const;

  /// Reads all numbers; `out` has the size of the array.
  template <class T>
  void read(std::span<T> out) const;
  /// Reads `count` entries of the first axis, starting with `first`.
  template <class T>
  void read_rows(std::int64_t first, std::int64_t count, std::span<T> out) const;
  /// Reads the box of `extent` at `from`, each with one number per axis.
  template <class T>
  void read_box(Indices from, Indices extent, std::span<T> out) const;

 private:
  std::unique_ptr<Hdf5Storage> storage_;
};

}  // namespace isobar::hdf5
