// Which channels the x of an HDF5 file holds, by number and by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isobar/datasets/hdf5_sample_file.hpp"
#include "isobar/hdf5/hdf5_file.hpp"

namespace isobar::datasets {

/// The numbers of the `there` channels of x. Files that were copied without some channels list the remaining ones in an
/// array 'channels' next to x; otherwise they are 0, 1, 2, ...
std::vector<std::int64_t> channel_numbers(const hdf5::Hdf5File& file, const std::string& x, std::int64_t there);

/// The names of the channels that are read: from the attribute 'channels' of x, one per line, or those of a climate
/// state; empty if they have none.
std::vector<std::string> channel_names(const hdf5::Hdf5File& file, const Hdf5Reading& reading);

}  // namespace isobar::datasets
