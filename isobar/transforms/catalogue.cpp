// All transforms, one row per file.
#include "isobar/transforms/transform.hpp"

namespace isobar::transforms {

extern const Row<Transform> cast;             // cast.cpp
extern const Row<Transform> class_map;        // class_map.cpp
extern const Row<Transform> crop;             // crop.cpp
extern const Row<Transform> divide_by_mean;   // divide_by_mean.cpp
extern const Row<Transform> log1p;            // log1p.cpp
extern const Row<Transform> mirror;           // mirror.cpp
extern const Row<Transform> normalize;        // normalize.cpp
extern const Row<Transform> one_hot;          // one_hot.cpp
extern const Row<Transform> resize;           // resize.cpp
extern const Row<Transform> rotate;           // rotate.cpp
extern const Row<Transform> scale;            // scale.cpp
extern const Row<Transform> select_channels;  // select_channels.cpp
extern const Row<Transform> standardize;      // standardize.cpp
extern const Row<Transform> subtract_mean;    // subtract_mean.cpp
extern const Row<Transform> swap_channels;    // swap_channels.cpp

Table<Row<Transform>> transforms() {
  static constexpr const Row<Transform>* all[] = {
      &cast,   &class_map, &crop,  &divide_by_mean,  &log1p,       &mirror,        &normalize,    &one_hot,
      &resize, &rotate,    &scale, &select_channels, &standardize, &subtract_mean, &swap_channels};
  return all;
}

}  // namespace isobar::transforms
