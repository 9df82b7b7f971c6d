// Hdf5File: the interface to the HDF5 library, for data sets and checkpoints: named arrays, groups, attributes. A
// failed call becomes an Error that names the file, the object and the attempt. The library is not thread-safe: every
// call is made under one process-wide lock, so many threads may use one file or several. A new file is written under a
// temporary name and appears under its own in commit(), or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isobar/files/input_file.hpp"
#include "isobar/files/number_type.hpp"
#include "isobar/files/stored_numbers.hpp"
#include "isobar/hdf5/hdf5_library.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::hdf5 {

/// How an array is to be stored.
struct Hdf5Making {
  files::NumberType type = files::NumberType::float32;
  Shape chunk{};  ///< rank 0: contiguous
  int gzip = 0;   ///< level 1 to 9, after a byte shuffle; 0: uncompressed. Needs chunks
};

enum class Hdf5Kind { group, array, other };

/// One open file; names are paths such as "x" or "weights/conv1", "/" is the file itself.
class Hdf5File {
 public:
  /// Opens an existing file for reading.
  static Hdf5File open(const std::filesystem::path& path);
  /// The same for a file whose first bytes were looked at: it is not opened again.
  static Hdf5File open(files::InputFile file);
  /// Begins a new file, which replaces an existing one in commit(); the folder must exist.
  static Hdf5File create(const std::filesystem::path& path);

  Hdf5File(Hdf5File&& other) noexcept;
  Hdf5File& operator=(Hdf5File&& other) noexcept;
  /// Closes the file; a new file that was not committed is removed.
  ~Hdf5File();

  /// Closes a new file and renames it. `durable` waits for the disk, so that the file also survives a power failure.
  void commit(bool durable = true);

  /// What the library knows it by, for calls under its lock.
  Hdf5Id id() const { return file_; }
  /// The name it has, or will have.
  const std::filesystem::path& path() const { return path_; }

  bool exists(std::string_view name) const;
  /// Names of the arrays and groups in a group, sorted.
  std::vector<std::string> children(std::string_view group) const;
  Shape shape(std::string_view name) const;
  files::Stored stored(std::string_view name) const;
  /// The usual name of the type of an array's entries: "int16", "text", "compound of a, b".
  std::string type_name(std::string_view name) const;
  /// Whether a name is a group, an array, or something else: a named type, a dangling link.
  Hdf5Kind kind(std::string_view name) const;
  /// Two numbers that are equal if and only if two names refer to the same object.
  std::pair<std::uint64_t, std::uint64_t> identity(std::string_view name) const;

  /// Reads a whole array; `out` has its size. T: float, double, std::int16_t, std::int32_t, std::int64_t, std::uint8_t;
  /// stored numbers are converted to it.
  template <class T>
  void read(std::string_view name, std::span<T> out) const;
  /// Reads `count` entries of the first axis, starting with `first`.
  template <class T>
  void read_rows(std::string_view name, std::int64_t first, std::int64_t count, std::span<T> out) const;

  /// Writes a new array of type T, making its parent groups; `values` has the size of `shape`.
  template <class T>
  void write(std::string_view name, const Shape& shape, std::span<const T> values);
  /// Makes an array to be filled by write_rows(), and its parent groups.
  void make_array(std::string_view name, const Shape& shape, const Hdf5Making& making);
  /// Makes an array of `count` texts of `length` bytes each, to be filled by write_rows(); shorter texts end in zeros.
  void make_texts(std::string_view name, std::int64_t count, std::size_t length);
  /// Fills the rows of the first axis from `first` on; `bytes` are whole rows of little-endian numbers of the array's
  /// type.
  void write_rows(std::string_view name, std::int64_t first, std::span<const std::uint8_t> bytes);

  /// Attributes of an array, a group or, with "/", the file.
  bool has_attribute(std::string_view object, std::string_view key) const;
  /// Names of the attributes, sorted.
  std::vector<std::string> attributes(std::string_view object) const;
  /// Whether an attribute is text, for text(), or numbers, for reals().
  bool is_text(std::string_view object, std::string_view key) const;
  bool is_numbers(std::string_view object, std::string_view key) const;
  void set_text(std::string_view object, std::string_view key, std::string_view value);
  void set_integer(std::string_view object, std::string_view key, std::int64_t value);
  void set_real(std::string_view object, std::string_view key, double value);
  std::string text(std::string_view object, std::string_view key) const;
  std::int64_t integer(std::string_view object, std::string_view key) const;
  double real(std::string_view object, std::string_view key) const;
  /// All numbers of an attribute that has one or more.
  std::vector<double> reals(std::string_view object, std::string_view key) const;

 private:
  friend class Hdf5Array;
  using Id = Hdf5Id;
  using Handle = Hdf5Handle;

  Hdf5File(std::filesystem::path path, std::filesystem::path temporary, Id file);
  void discard() noexcept;

  // The caller must hold the lock.
  Handle make_typed(std::string_view name, const Shape& shape, Id type, const Hdf5Making& making);
  Id checked(Id result, std::string_view attempt, std::string_view name) const {
    return checked_hdf5(result, path_, attempt, name);
  }
  bool linked(std::string_view name) const;
  Handle open_array(std::string_view name) const;
  Shape extents(const Handle& array, std::string_view name) const;
  Handle open_attribute(std::string_view object, std::string_view key) const;
  void write_attribute(std::string_view object, std::string_view key, Id type, const void* value);
  void read_attribute(std::string_view object, std::string_view key, Id type, void* value) const;
  std::int64_t count_values(const Handle& attribute, std::string_view object, std::string_view key) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty if opened for reading
  Id file_ = -1;
};

}  // namespace isobar::hdf5
