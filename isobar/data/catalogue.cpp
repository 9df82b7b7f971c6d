// The kinds of dataset, one row per file.
#include "isobar/data/dataset.hpp"

namespace isobar::data {

extern const Row<Dataset> cifar10;   // cifar_dataset.cpp
extern const Row<Dataset> cifar100;  // cifar_dataset.cpp
extern const Row<Dataset> hdf5;      // hdf5_dataset.cpp
extern const Row<Dataset> idx;       // idx_dataset.cpp
extern const Row<Dataset> images;    // images_dataset.cpp
extern const Row<Dataset> mnist;     // mnist_dataset.cpp
extern const Row<Dataset> noise;     // noise_dataset.cpp
extern const Row<Dataset> universe;  // universe_dataset.cpp

Table<Row<Dataset>> datasets() {
  static constexpr const Row<Dataset>* all[] = {&cifar10, &cifar100, &hdf5, &idx, &images, &mnist, &noise, &universe};
  return all;
}

std::unique_ptr<Dataset> make_dataset(const Spec& spec) { return make(datasets(), spec, "dataset"); }

}  // namespace isobar::data
