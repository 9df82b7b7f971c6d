// Air remembers where it came from: following each point's air back through the winds of the last days turns a smooth
// climate into fronts, dry intrusions and the moist filaments that are atmospheric rivers (chaotic advection;
// Pierrehumbert and Yang 1993, "contour advection" of Waugh and Plumb 1994). No step depends on an earlier frame.
#pragma once

#include <span>
#include <vector>

#include "isobar/worlds/sphere.hpp"

namespace isobar::worlds {

/// A coarse wind at one moment, as rows and columns of its grid an hour.
struct Flow {
  Plane rows, columns;
};

/// Winds of the past: flows[i] is that of i * hours ago.
struct Past {
  SphereGrid grid;
  double hours;
  std::vector<Flow> flows;
};

/// A moment of an air parcel's way, on the grid of the winds.
struct Waypoint {
  float row, column;
};

/// The place between two moments that follow each other.
Waypoint half_way(const SphereGrid& grid, Waypoint a, Waypoint b);

/// Writes where the air at a point was, moment by moment back in time; way[0] is the point itself.
void trace_back(const Past& past, Waypoint point, std::span<Waypoint> way);

}  // namespace isobar::worlds
