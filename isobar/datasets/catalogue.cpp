// The kinds of data sets, one row per file.
#include "isobar/datasets/dataset.hpp"

namespace isobar::datasets {

extern const DatasetRow atmosphere;  // atmosphere_dataset.cpp
extern const DatasetRow automatic;   // auto_dataset.cpp
extern const DatasetRow cifar10;     // cifar_dataset.cpp
extern const DatasetRow cifar100;    // cifar_dataset.cpp
extern const DatasetRow hdf5;        // hdf5_dataset.cpp
extern const DatasetRow idx;         // idx_dataset.cpp
extern const DatasetRow images;      // images_dataset.cpp
extern const DatasetRow joined;      // join_dataset.cpp
extern const DatasetRow lmdb;        // lmdb_dataset.cpp
extern const DatasetRow mnist;       // mnist_dataset.cpp
extern const DatasetRow netcdf;      // netcdf_dataset.cpp
extern const DatasetRow noise;       // noise_dataset.cpp
extern const DatasetRow npy;         // npy_dataset.cpp
extern const DatasetRow tfrecord;    // tfrecord_dataset.cpp
extern const DatasetRow tokens;      // tokens_dataset.cpp
extern const DatasetRow universe;    // universe_dataset.cpp

Table<DatasetRow> datasets() {
  static constexpr const DatasetRow* all[] = {&atmosphere, &automatic, &cifar10, &cifar100, &hdf5,   &idx,
                                              &images,     &joined,    &lmdb,    &mnist,    &netcdf, &noise,
                                              &npy,        &tfrecord,  &tokens,  &universe};
  return all;
}

std::unique_ptr<Dataset> make_dataset(const Spec& spec, Survey& survey, Spec* resolved) {
  const DatasetRow& row = find(datasets(), spec.name(), "dataset");
  Args args(spec, "dataset");
  auto made = row.make(args, survey);
  args.finish();
  if (resolved) *resolved = args.resolved();
  return made;
}

std::unique_ptr<Dataset> make_dataset(const Spec& spec) {
  Survey survey;
  return make_dataset(spec, survey);
}

std::vector<std::string> describe(const DatasetRow& row) {
  Survey survey;
  return describe_arguments(row.name, [&](Args& args) { row.make(args, survey); });
}

}  // namespace isobar::datasets
