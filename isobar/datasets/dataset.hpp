// Dataset: a number of samples, of which any can be read into given memory. Files and generated worlds look the same to
// the loader. Named by a Spec: hdf5(path=universe/train, log=true), universe(count=64), noise(shape=[32, 32, 4]).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isobar/base/row.hpp"
#include "isobar/datasets/geography.hpp"
#include "isobar/datasets/sampler.hpp"
#include "isobar/datasets/survey.hpp"
#include "isobar/tensor/box.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::datasets {

/// One tensor of a sample, without the batch axis.
struct Field {
  std::string name;
  Shape shape;
};

/// A part of every sample: a box of each field, all along the axes of its shape. A field with an empty box is not read.
using Region = std::vector<Box>;

/// The samples [first, first + count) are in one file.
struct FileSpan {
  std::filesystem::path file;
  std::int64_t first = 0, count = 0;
};

/// The purpose of reading a sample: determines what transforms draw.
struct Reading {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  bool training = false;  ///< if false, nothing is random
};

/// The fetching of a course's samples ahead of time, for data sets that do so.
class Fetching {
 public:
  virtual ~Fetching() = default;
  /// Ends the fetching; a read that waits for a sample fails. This rank has used the first `used` batches: whatever
  /// other ranks still need from it for these is sent before the call returns.
  virtual void end(std::int64_t used) = 0;
};

/// Samples by number; every sample has the same fields, and read() always gives the same numbers.
class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual std::int64_t size() const = 0;
  virtual std::vector<Field> fields() const = 0;
  /// Fills out[f] with the numbers of fields()[f] of one sample; may be called from many threads at once.
  virtual void read(std::int64_t index, std::span<const std::span<float>> out) const = 0;
  /// Like read(), varied as a training set may be: a pure function of its arguments.
  virtual void read_varied(const Reading&, std::int64_t index, std::span<const std::span<float>> out) const {
    read(index, out);
  }
  /// Like read_varied(), but fills out[f] with region[f] of field f only: exactly the numbers that are there in the
  /// whole sample. Reads the whole and cuts it, unless a data set can do better.
  virtual void read_region(const Reading& reading, std::int64_t index, std::span<const Box> region,
                           std::span<const std::span<float>> out) const;
  /// Whether read_region() reads less from files than read() does.
  virtual bool reads_regions() const { return false; }
  /// The names of the channels of x, its last axis; empty if they have none.
  virtual std::vector<std::string> channels() const { return {}; }
  /// The names of the classes that the target numbers stand for; empty if there are none.
  virtual std::vector<std::string> classes() const { return {}; }
  /// Where a sample comes from, for messages: "train.h5 sample 3".
  virtual std::string where(std::int64_t index) const;
  /// The files that hold the samples, in the order of the samples; one rank should read each as a whole. Empty if
  /// samples do not come from files, or all come from one.
  virtual std::vector<FileSpan> spans() const { return {}; }
  /// Called by a loader to announce what it will read, with read_varied() and each sample once; may return null. For
  /// data sets that fetch samples ahead of time.
  virtual std::shared_ptr<Fetching> foresee(const Course&) const { return nullptr; }
  /// Where and when the samples are, if x is a grid of the Earth; nullopt if not known.
  virtual std::optional<Geography> geography() const { return std::nullopt; }

 protected:
  /// Checks that `index` and the memory given to read() fit this data set.
  void expects_request(std::int64_t index, std::span<const std::span<float>> out) const;
  /// The same for read_region().
  void expects_request(std::int64_t index, std::span<const Box> region, std::span<const std::span<float>> out) const;
};

/// All of a sample with these fields.
Region whole_region(const std::vector<Field>& fields);

struct Contents;
struct Glance;
struct Outline;
class SampleWriter;

/// A member of the catalogue; data sets that read files also know their format, and some write it
/// (isobar/datasets/format.hpp).
struct DatasetRow {
  std::string_view name;
  std::string_view summary;
  /// Asks the survey about files before it opens them, and notes what it finds out.
  std::unique_ptr<Dataset> (*make)(Args&, Survey&);
  /// Whether a file or folder is of this format, by its content; null for what is no format.
  bool (*recognises)(const Glance&) = nullptr;
  /// What a file or folder of this format holds, without reading all of it.
  Contents (*look)(const Glance&) = nullptr;
  /// Begins a file or folder of this format.
  std::unique_ptr<SampleWriter> (*create)(const std::filesystem::path& to, const Outline&, Args&) = nullptr;
};

/// The kinds of data sets.
Table<DatasetRow> datasets();

/// Makes the dataset a Spec names, opening each file once at most and none that `survey` tells enough about, except the
/// first. `resolved`, when given, receives the Spec with all defaults filled in.
std::unique_ptr<Dataset> make_dataset(const Spec& spec, Survey& survey, Spec* resolved = nullptr);
/// The same with a survey that knows nothing.
std::unique_ptr<Dataset> make_dataset(const Spec& spec);

/// The arguments of one member with their defaults, for lists.
std::vector<std::string> describe(const DatasetRow& row);

}  // namespace isobar::datasets
