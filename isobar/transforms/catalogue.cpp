// All transforms, one row per file.
#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {

extern const Row<Transform> crop;           // crop.cpp
extern const Row<Transform> mirror;         // mirror.cpp
extern const Row<Transform> scale;          // scale.cpp
extern const Row<Transform> standardize;    // standardize.cpp
extern const Row<Transform> subtract_mean;  // subtract_mean.cpp
extern const Row<Transform> swap_channels;  // swap_channels.cpp

Table<Row<Transform>> transforms() {
  static constexpr const Row<Transform>* all[] = {&crop, &mirror, &scale, &standardize, &subtract_mean, &swap_channels};
  return all;
}

}  // namespace isobar::transforms
