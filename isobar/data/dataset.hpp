// Dataset: a number of samples, and reading the i-th into given memory. Files and generated worlds look the same to
// the loader. Named by a Spec: hdf5(path=universe/train, log=true), universe(count=64), noise(shape=[32, 32, 4]).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isobar/base/row.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::data {

/// One tensor of a sample, without the batch axis.
struct Field {
  std::string name;
  Shape shape;
};

/// What for a sample is read: decides what transforms draw.
struct Reading {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  bool training = false;  ///< otherwise nothing is random
};

/// Samples by number; every sample has the same fields, and read() gives the same whenever it is called.
class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual std::int64_t size() const = 0;
  virtual std::vector<Field> fields() const = 0;
  /// Fills out[f] with the numbers of fields()[f] of one sample; may be called from many threads at once.
  virtual void read(std::int64_t index, std::span<const std::span<float>> out) const = 0;
  /// As read(), varied as a training set may be: a pure function of its arguments.
  virtual void read_varied(const Reading&, std::int64_t index, std::span<const std::span<float>> out) const {
    read(index, out);
  }
  /// The names of the classes that the target numbers stand for; empty when there are none.
  virtual std::vector<std::string> classes() const { return {}; }
  /// Where a sample comes from, for messages: "train.h5 sample 3".
  virtual std::string where(std::int64_t index) const;

 protected:
  /// States that `index` and the memory given to read() belong to this dataset.
  void expects_request(std::int64_t index, std::span<const std::span<float>> out) const;
};

/// The kinds of dataset.
Table<Row<Dataset>> datasets();

/// Makes the dataset a Spec names.
std::unique_ptr<Dataset> make_dataset(const Spec& spec);

}  // namespace isobar::data
