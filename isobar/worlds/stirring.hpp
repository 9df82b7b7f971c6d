// Traces the air of each point back through the winds of the last days, which turns a smooth climate into fronts, dry
// intrusions and the moist filaments that are atmospheric rivers (chaotic advection; Pierrehumbert and Yang 1993,
// "contour advection" of Waugh and Plumb 1994). Nothing depends on an earlier frame.
#pragma once

#include <span>
#include <vector>

#include "isobar/worlds/sphere.hpp"

namespace isobar::worlds {

/// A coarse wind at one moment, in rows and columns of its grid per hour.
struct Flow {
  Plane rows, columns;
};

/// Winds of the past: flows[i] is the flow i * hours ago.
struct Past {
  SphereGrid grid;
  double hours;
  std::vector<Flow> flows;
};

/// A point on the path of an air parcel, on the grid of the winds.
struct Waypoint {
  float row, column;
};

/// The midpoint of two successive waypoints.
Waypoint half_way(const SphereGrid& grid, Waypoint a, Waypoint b);

/// Writes the path of the air at a point, step by step back in time; way[0] is the point itself.
void trace_back(const Past& past, Waypoint point, std::span<Waypoint> way);

}  // namespace isobar::worlds
