// Hdf5Array: one array of numbers in an HDF5 file, read by many threads at once. The library is asked once, under its
// lock, how the array lies in the file; reading then goes past it: pread, and our own filters and conversions. Only
// what is rare (szip, nbit, scale-offset, external or virtual storage, odd types) is still read by the library, one
// thread after another. A thread keeps the chunks it decoded last (isobar/hdf5/chunk_cache.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "isobar/files/stored_numbers.hpp"
#include "isobar/hdf5/boxes.hpp"
#include "isobar/hdf5/hdf5_file.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::hdf5 {

struct Hdf5Storage;

/// T below: float, double, std::int16_t, std::int32_t, std::int64_t, std::uint8_t; stored numbers are converted to it.
class Hdf5Array {
 public:
  /// Opens an array of a file that is open for reading; the array may outlive `file`. What is no numbers, or lies
  /// behind a filter nobody here knows, is an Error.
  Hdf5Array(const Hdf5File& file, std::string_view name);
  Hdf5Array(Hdf5Array&&) noexcept;
  Hdf5Array& operator=(Hdf5Array&&) noexcept;
  ~Hdf5Array();

  const Shape& shape() const;
  const files::Stored& stored() const;
  /// Whether reading goes past the library.
  bool direct() const;
  /// How it is stored, for people: "int16", "float32, chunks of [4, 6], shuffle, gzip".
  std::string describe() const;
  /// Bytes of the file it lies in: what bounds any claim it makes.
  std::int64_t file_bytes() const;

  /// Reads all numbers; `out` has their size.
  template <class T>
  void read(std::span<T> out) const;
  /// Reads `count` entries of the first axis, from `first`.
  template <class T>
  void read_rows(std::int64_t first, std::int64_t count, std::span<T> out) const;
  /// Reads the box of `extent` at `from`, each with one number per axis.
  template <class T>
  void read_box(Indices from, Indices extent, std::span<T> out) const;

 private:
  std::unique_ptr<Hdf5Storage> storage_;
};

}  // namespace isobar::hdf5
