// NpyFile: an array in NumPy's .npy format, versions 1 to 3, or from an .npz archive. Numbers of all usual types in
// both byte orders become floats; complex numbers, texts and structures are refused. A plain file in C order is read on
// demand; compressed files and those in Fortran order are held in memory.
#pragma once

#include <bit>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isobar/files/archive.hpp"
#include "isobar/files/input_file.hpp"
#include "isobar/files/number_type.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::files {

/// What the header of an array says.
struct NpyHeader {
  NumberType type = NumberType::float32;
  std::endian order = std::endian::little;
  bool fortran = false;
  Shape shape{};
  std::int64_t data = 0;  ///< where the numbers begin

  std::int64_t bytes() const { return shape.count() * width_of(type); }
};

class NpyFile {
 public:
  /// Opens a .npy file; a size that does not match its header is an Error.
  NpyFile(const std::filesystem::path& path, std::int64_t max_bytes);
  /// Takes the content of a .npy file; `name` is for messages.
  NpyFile(std::string name, Bytes content, std::int64_t max_bytes);

  const NpyHeader& header() const { return header_; }
  const Shape& shape() const { return header_.shape; }
  /// Reads `out.size()` numbers from number `first` on, the last axis fastest; may be called from many threads at once.
  void read(std::int64_t first, std::span<float> out) const;

 private:
  void begin(std::span<const std::uint8_t> head, std::int64_t file_bytes);
  void hold(Bytes content, std::int64_t max_bytes);

  std::string name_;
  NpyHeader header_;
  std::optional<InputFile> file_;
  Bytes held_;  // all numbers, if they are held in memory
};

/// Reads a header from the beginning of a file; the array it announces may be longer than the file.
NpyHeader read_npy_header(std::span<const std::uint8_t> bytes);

/// The header of a new file of little-endian numbers in C order.
Bytes npy_header(NumberType type, const Shape& shape);

/// The arrays of an .npz archive by name, without ".npy"; all if `wanted` is empty. A name that is not in the archive
/// is an Error that lists those that are.
std::map<std::string, NpyFile> read_npz(const std::filesystem::path& path, const std::vector<std::string>& wanted,
                                        std::int64_t max_bytes);

/// The names and headers of the arrays of an .npz archive; an array that is refused has the reason instead.
struct NpzMember {
  std::string name;
  std::optional<NpyHeader> header{};
  std::string refused{};
};
std::vector<NpzMember> list_npz(const std::filesystem::path& path);

}  // namespace isobar::files
