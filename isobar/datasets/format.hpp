// Formats as `isobar data inspect` and `isobar data convert` see them: what a file contains, which data sets would read
// it, and writing samples to a new one. A row in the catalogue of data sets knows its own format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isobar/datasets/dataset.hpp"
#include "isobar/datasets/glance.hpp"

namespace isobar::datasets {

/// One named part of a file: an array, a variable, a feature.
struct FilePart {
  std::string name;
  std::string shape;  ///< as in "[128, 128, 128, 4]"; dimensions may carry names: "time=8 lat=768 lon=1152"
  std::string type;   ///< as stored: "int16", "float32, gzip chunks of [4, 6]", "text"
  std::string note;   ///< what else is worth knowing: units, packing, fill value; may be empty
};

/// What a file or folder holds.
struct Contents {
  std::string summary;          ///< one line: "HDF5, 32 files with one sample each"
  std::vector<FilePart> parts;  ///< of the file, or of the first one
  std::vector<Spec> readers;    ///< data sets that would read it, the best first
  std::string obstacle;         ///< if there are none: why, and what would help
};

/// What will be written: the samples of some data set.
struct Outline {
  std::vector<Field> fields;
  std::int64_t count = 0;
  std::vector<std::string> classes{};   ///< names of the classes, if y numbers classes
  std::vector<std::string> channels{};  ///< names of the channels of x, if they have any
};

/// Writes samples one after another, in the order of their numbers. Unfinished files are removed.
class SampleWriter {
 public:
  virtual ~SampleWriter() = default;

  /// Appends one sample: the numbers of every field. A number the format cannot hold is an Error.
  virtual void write(std::span<const std::span<const float>> fields) = 0;
  /// Moves everything into place under its name.
  virtual void finish() = 0;
};

/// The kind of data set whose format a file or folder has; if there is none, an Error that lists the known formats.
const DatasetRow& recognise(const Glance& glance);

/// What a file or folder holds.
Contents look_into(const Glance& glance);

/// Begins a file or folder `to`; `spec` names the format and how to write it: "tfrecord(gzip=true)". An existing file
/// or folder is an Error.
std::unique_ptr<SampleWriter> make_writer(const Spec& spec, const std::filesystem::path& to, const Outline& outline);

}  // namespace isobar::datasets
