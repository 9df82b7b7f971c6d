// hdf5(path=..., x=x, y=y, log=false, samples=0): samples in HDF5 files, in one of two layouts. A folder holds one
// sample per file, sorted by name: the MLPerf CosmoFlow layout, x (128, 128, 128, 4) int16 or float, y (4). A file
// holds all of them, with the sample as first axis of x and y. log means x -> ln(x + 1).
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "isobar/data/counts.hpp"
#include "isobar/data/dataset.hpp"
#include "isobar/data/glance.hpp"
#include "isobar/files/hdf5_file.hpp"

namespace isobar::data {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path path;
  std::string x, y;
  Scaling scaling = Scaling::none;
  std::int64_t samples = 0;  // 0: all
};

std::int64_t limited(const Options& options, std::int64_t found) {
  if (found == 0) fail("{}: there are no samples", options.path.string());
  if (options.samples > found)
    fail("{}: {} samples were asked for, there are {}", options.path.string(), options.samples, found);
  return options.samples > 0 ? options.samples : found;
}

// Counts are read as they are stored and widened here, outside the library's lock; `read` fills a span of either type.
template <class Read>
void read_scaled(const files::Stored& stored, Scaling scaling, std::span<float> out, const Read& read) {
  if (stored.fits_int16()) {
    const std::span<std::int16_t> counts = last_half(out);
    read(counts);
    expand_counts(counts, scaling, out);
  } else {
    read(out);
    apply_scaling(scaling, out);
  }
}

void require_numbers(const files::Hdf5File& file, const std::string& name) {
  if (file.stored(name).kind == files::Stored::Kind::other)
    fail("{}: '{}' does not hold numbers", file.path().string(), name);
}

/// A file of many samples.
class SampleAxis final : public Dataset {
 public:
  explicit SampleAxis(Options options) : options_(std::move(options)), file_(files::Hdf5File::open(options_.path)) {
    const Shape x = file_.shape(options_.x), y = file_.shape(options_.y);
    if (x.rank() < 2)
      fail("{}: '{}' has shape {}; a file of samples needs a sample axis and at least one more", options_.path.string(),
           options_.x, x.str());
    if (y.rank() < 1 || y[0] != x[0])
      fail("{}: '{}' has shape {}, but '{}' has {} samples", options_.path.string(), options_.y, y.str(), options_.x,
           x[0]);
    for (const std::string& name : {options_.x, options_.y}) require_numbers(file_, name);
    size_ = limited(options_, x[0]);
    stored_ = file_.stored(options_.x);
    fields_ = {{"x", without_first(x)}, {"y", y.rank() == 1 ? Shape{1} : without_first(y)}};
  }

  std::int64_t size() const override { return size_; }
  std::vector<Field> fields() const override { return fields_; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    read_scaled(stored_, options_.scaling, out[0],
                [&]<class T>(std::span<T> to) { file_.read_rows<T>(options_.x, index, 1, to); });
    file_.read_rows<float>(options_.y, index, 1, out[1]);
  }

  std::string where(std::int64_t index) const override {
    return fmt::format("{} sample {}", options_.path.string(), index);
  }

 private:
  static Shape without_first(const Shape& shape) {
    return Shape(std::vector<std::int64_t>(shape.extents().begin() + 1, shape.extents().end()));
  }

  Options options_;
  files::Hdf5File file_;
  std::int64_t size_ = 0;
  files::Stored stored_;
  std::vector<Field> fields_;
};

/// A folder of files with one sample each.
class SampleFiles final : public Dataset {
 public:
  explicit SampleFiles(Options options) : options_(std::move(options)) {
    std::error_code code;
    for (const fs::directory_entry& entry : fs::directory_iterator(options_.path, code))
      if (entry.path().extension() == ".h5" || entry.path().extension() == ".hdf5") files_.push_back(entry.path());
    if (code) fail("{}: cannot be listed: {}", options_.path.string(), code.message());
    if (files_.empty()) fail("{}: no samples: the folder has no .h5 or .hdf5 files", options_.path.string());
    std::ranges::sort(files_);
    files_.resize(static_cast<std::size_t>(limited(options_, static_cast<std::int64_t>(files_.size()))));
    const files::Hdf5File first = files::Hdf5File::open(files_[0]);
    for (const auto& [field, name] : {std::pair{"x", options_.x}, std::pair{"y", options_.y}}) {
      require_numbers(first, name);
      const Shape shape = first.shape(name);
      if (shape.count() == 0) fail("{}: '{}' has shape {}: no numbers", files_[0].string(), name, shape.str());
      fields_.push_back({field, shape.rank() == 0 ? Shape{1} : shape});
    }
    if (first.shape(options_.x).rank() == 0)
      fail("{}: '{}' is a single number; a sample has at least one axis", files_[0].string(), options_.x);
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(files_.size()); }
  std::vector<Field> fields() const override { return fields_; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    // Opened and checked when it is read: a hundred thousand files are not opened to begin.
    const files::Hdf5File file = files::Hdf5File::open(files_[static_cast<std::size_t>(index)]);
    check_shape(file, options_.x, fields_[0].shape);
    check_shape(file, options_.y, fields_[1].shape);
    read_scaled(file.stored(options_.x), options_.scaling, out[0],
                [&]<class T>(std::span<T> to) { file.read<T>(options_.x, to); });
    file.read<float>(options_.y, out[1]);
  }

  std::string where(std::int64_t index) const override { return files_[static_cast<std::size_t>(index)].string(); }

 private:
  void check_shape(const files::Hdf5File& file, const std::string& name, const Shape& wanted) const {
    Shape shape = file.shape(name);
    if (shape.rank() == 0) shape = Shape{1};
    if (shape != wanted)
      fail("{}: '{}' has shape {}, but {} in the first file, {}", file.path().string(), name, shape.str(), wanted.str(),
           files_[0].filename().string());
  }

  Options options_;
  std::vector<fs::path> files_;
  std::vector<Field> fields_;
};

std::unique_ptr<Dataset> make_hdf5(Args& args) {
  Options options;
  options.x = args.text("x", "x");
  options.y = args.text("y", "y");
  options.scaling = args.flag("log", false) ? Scaling::log : Scaling::none;
  options.samples = args.integer("samples", 0);
  options.path = args.text("path");  // last, so that a list of the arguments has them all
  args.require(options.samples >= 0, "samples >= 0, where 0 means all");
  args.finish();
  std::error_code code;
  const fs::file_status status = fs::status(options.path, code);
  if (!fs::exists(status)) fail("{}: there is no such file or folder of samples", options.path.string());
  if (fs::is_directory(status)) return std::make_unique<SampleFiles>(std::move(options));
  return std::make_unique<SampleAxis>(std::move(options));
}

}  // namespace

extern const DatasetRow hdf5;
const DatasetRow hdf5{"hdf5", "HDF5 files: a folder with one sample per file, or a file with a sample axis", make_hdf5,
                      [](const Glance& glance) { return glance.begins("\x89HDF\r\n\x1a\n"); }};

}  // namespace isobar::data
