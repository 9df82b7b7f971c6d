// The usual layouts of HDF5 files in science: which arrays are x and y, whether a file holds one sample or many, and
// where the channels are. A layout is recognised by the names and shapes of the arrays, or named by the user.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isobar/hdf5/hdf5_file.hpp"

namespace isobar::datasets {

struct Hdf5Layout {
  std::string_view name, x, y;
  bool sample_axis;     ///< the first axis of the arrays is the sample; otherwise a file holds one sample
  bool channels_first;  ///< x is [channels, space...] in the file; samples are always channels-last
  bool planes;          ///< in a sample, y has one more axis: sets of labels, of which one is chosen
  bool (*fits)(const Shape& x, const Shape& y);
  std::string_view about;  ///< for people
};

/// The layout called `name`; an unknown name is an Error that lists the known ones.
const Hdf5Layout& hdf5_layout(std::string_view name);

/// The layout whose arrays a file holds, or null.
const Hdf5Layout* recognise_layout(const hdf5::Hdf5File& file);

/// All names, for messages and lists.
std::vector<std::string> hdf5_layout_names();

}  // namespace isobar::datasets
