// Pictures in folders and archives as `isobar data inspect` and `convert` see them.
#pragma once

#include "isobar/datasets/format.hpp"

namespace isobar::datasets {

bool recognises_images(const Glance& glance);
Contents look_images(const Glance& glance);
std::unique_ptr<SampleWriter> create_images(const std::filesystem::path& to, const Outline& outline, Args& args);

}  // namespace isobar::datasets
