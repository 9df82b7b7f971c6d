// HDF5 files as `isobar data inspect` and `convert` see them.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "isobar/datasets/format.hpp"

namespace isobar::datasets {

/// The files of a data set, as list_files() finds them.
std::vector<std::filesystem::path> list_hdf5(const std::filesystem::path& path);

/// The attribute with which files written here say that the first axis of their arrays is the sample.
inline constexpr std::string_view sample_axis_note = "sample_axis";

bool recognises_hdf5(const Glance& glance);
Contents look_hdf5(const Glance& glance);
std::unique_ptr<SampleWriter> create_hdf5(const std::filesystem::path& to, const Outline& outline, Args& args);

}  // namespace isobar::datasets
