// NumPy files as `isobar data inspect` and `convert` see them.
#pragma once

#include "isobar/datasets/format.hpp"

namespace isobar::datasets {

bool recognises_npy(const Glance& glance);
Contents look_npy(const Glance& glance);
std::unique_ptr<SampleWriter> create_npy(const std::filesystem::path& to, const Outline& outline, Args& args);

}  // namespace isobar::datasets
