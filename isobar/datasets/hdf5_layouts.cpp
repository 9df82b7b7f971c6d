#include "isobar/datasets/hdf5_layouts.hpp"

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::datasets {
namespace {

bool is_cube(const Shape& x, const Shape& y) {
  return x.rank() == 4 && x[0] == x[1] && x[1] == x[2] && y.rank() == 1 && y[0] != x[0];
}

bool is_picture_with_mask(const Shape& x, const Shape& y) {
  return x.rank() == 3 && y.rank() == 2 && x[0] == y[0] && x[1] == y[1];
}

bool is_planes_with_masks(const Shape& x, const Shape& y) {
  return x.rank() == 3 && y.rank() == 3 && x[1] == y[1] && x[2] == y[2];
}

bool is_images_with_classes(const Shape& x, const Shape& y) {
  return x.rank() == 4 && x[1] <= 4 && y.rank() == 1 && x[0] == y[0];
}

bool is_images_with_boxes(const Shape& x, const Shape& y) {
  return x.rank() == 4 && y.rank() == 3 && x[0] == y[0] && y[2] == 5;
}

// A layout with the same arrays as an earlier one is recognised as the earlier one.
constexpr Hdf5Layout layouts[] = {
    {"cosmoflow", "x", "y", false, false, false, is_cube, "MLPerf CosmoFlow: one cube per file"},
    {"climate", "climate/data", "climate/labels_0", false, false, false, is_picture_with_mask,
     "climate segmentation, original and climate-seg-benchmark: one state per file"},
    {"climate_reformatted", "climate/data", "climate/labels", false, true, true, is_planes_with_masks,
     "climate segmentation as reformatted for the Gordon Bell runs: channels first, two sets of labels"},
    {"deepcam", "climate/data", "climate/labels_0", false, false, false, is_picture_with_mask,
     "MLPerf DeepCAM: one state per file"},
    {"hep", "data", "label", true, true, false, is_images_with_classes, "HEP events: images, channels first"},
    {"extreme_weather", "images", "boxes", true, true, false, is_images_with_boxes,
     "ExtremeWeather: a year of states, channels first, with boxes around events"},
};

}  // namespace

const Hdf5Layout& hdf5_layout(std::string_view name) {
  for (const Hdf5Layout& layout : layouts)
    if (layout.name == name) return layout;
  fail_usage("unknown layout '{}'{}", name, suggestion(name, hdf5_layout_names()));
}

const Hdf5Layout* recognise_layout(const hdf5::Hdf5File& file) {
  for (const Hdf5Layout& layout : layouts) {
    const auto is_array = [&](std::string_view name) {
      return file.exists(name) && file.kind(name) == hdf5::Hdf5Kind::array;
    };
    if (is_array(layout.x) && is_array(layout.y) && layout.fits(file.shape(layout.x), file.shape(layout.y)))
      return &layout;
  }
  return nullptr;
}

std::vector<std::string> hdf5_layout_names() {
  std::vector<std::string> names;
  for (const Hdf5Layout& layout : layouts) names.emplace_back(layout.name);
  return names;
}

}  // namespace isobar::datasets
