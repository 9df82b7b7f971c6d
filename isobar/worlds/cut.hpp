// Cutting a cube into equal sub-cubes, numbered as in CosmoFlow's files: axis 0 slowest, axis 2 fastest;
// and merging neighbouring cells, which gives fewer and larger cells with several particles each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace isobar::worlds {

/// How many cubes with edge `part` a cube with edge `mesh` holds; throws UsageError unless `part` divides `mesh`.
std::int64_t parts_in(int mesh, int part);

/// Copies sub-cube `index` of a mesh^3 x channels volume, channels last, to `out`, part^3 x channels.
void cut(std::span<const float> volume, int mesh, int channels, int part, std::int64_t index, std::span<float> out);

/// Adds the counts of factor^3 cells of a mesh^3 x channels volume, channels last; `factor` divides the mesh.
std::vector<float> merge_cells(std::span<const float> volume, int mesh, int channels, int factor);

}  // namespace isobar::worlds
