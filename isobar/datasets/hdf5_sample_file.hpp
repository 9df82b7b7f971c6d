// One open HDF5 file of samples: what x and y are in it, and reading either as the data set shows it: channels last,
// only the chosen channels, one set of labels. Many threads may read at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "isobar/datasets/counts.hpp"
#include "isobar/hdf5/hdf5_array.hpp"
#include "isobar/tensor/box.hpp"

namespace isobar::datasets {

/// What a user, or a layout, says about the files.
struct Hdf5Reading {
  std::string x = "x", y = "y";  ///< names of the arrays; no y: no labels; no x: only labels
  bool sample_axis = true;       ///< the first axis is the sample; otherwise a file is one sample
  bool channels_first = false;
  std::int64_t plane = -1;             ///< which entry of y's first axis, in a sample, holds the labels; -1: all of y
  std::vector<std::int64_t> channels;  ///< of x to read, in this order; empty: all
  CountScaling scaling = CountScaling::none;  ///< of x
};

class Hdf5SampleFile {
 public:
  /// Opens and checks the file; a mismatch is an Error that names the file and the array.
  Hdf5SampleFile(const std::filesystem::path& path, const Hdf5Reading& reading);
  /// The same for a file that is open; it need not stay so.
  Hdf5SampleFile(const hdf5::Hdf5File& file, const Hdf5Reading& reading);

  std::int64_t size() const { return size_; }
  /// Rank 0 if x is not read; y_shape() likewise.
  const Shape& x_shape() const { return x_shape_; }
  const Shape& y_shape() const { return y_shape_; }
  /// Names of classes, if the file has them.
  const std::vector<std::string>& classes() const { return classes_; }

  /// Read a part of a sample's x or y, and nothing else from the file as far as its storage permits.
  void read_x(std::int64_t index, const Box& part, std::span<float> out) const;
  void read_y(std::int64_t index, const Box& part, std::span<float> out) const;

  /// It holds no numbers, only an open file.
  std::int64_t held_bytes() const { return 0; }

 private:
  void open_x(const hdf5::Hdf5File& file);
  void open_y(const hdf5::Hdf5File& file);
  void choose_channels(const hdf5::Hdf5File& file);
  void read_scaled(Indices from, Indices extent, std::span<float> out) const;

  Hdf5Reading reading_;
  std::optional<hdf5::Hdf5Array> x_, y_;
  std::int64_t size_ = 1;
  Shape x_shape_, y_shape_;
  std::vector<std::int64_t> positions_;  // of the channels in the file; empty: all
  std::vector<std::string> classes_;
};

}  // namespace isobar::datasets
