// Merges neighbouring cells by adding their counts, which gives fewer and larger cells with several particles each.
#pragma once

#include <span>
#include <vector>

namespace isobar::worlds {

/// Adds the counts of factor^3 cells of a mesh^3 x channels volume, channels last; `factor` divides the mesh.
std::vector<float> merge_cells(std::span<const float> volume, int mesh, int channels, int factor);

}  // namespace isobar::worlds
