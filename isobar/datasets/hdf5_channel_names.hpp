// Which channels the x of an HDF5 file holds, by number and by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isobar/datasets/hdf5_sample_file.hpp"
#include "isobar/hdf5/hdf5_file.hpp"

namespace isobar::datasets {

/// The numbers of the `there` channels of x. Files of which channels were left out when they were copied say which ones
/// they have, in an array 'channels' beside x; otherwise they are 0, 1, 2, ...
std::vector<std::int64_t> channel_numbers(const hdf5::Hdf5File& file, const std::string& x, std::int64_t there);

/// The names of the channels that are read: those of the attribute 'channels' of x, one a line, or of a climate state;
/// empty when they have none.
std::vector<std::string> channel_names(const hdf5::Hdf5File& file, const Hdf5Reading& reading);

}  // namespace isobar::datasets
