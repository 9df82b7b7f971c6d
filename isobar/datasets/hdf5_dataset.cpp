// hdf5(path=..., x=x, y=y, layout='', ...): samples in HDF5 files. The sample is the first axis of a file's arrays, or
// a file is one sample (sample_axis), as is usual in folders. The layouts of isobar/datasets/hdf5_layouts.hpp are
// recognised if x is not given. channels=[...] takes some channels, channels_first=true turns [channels, space] around,
// plane=N chooses a set of labels, log=true means x -> ln(x + 1). labels=folder: the class is the name of a file's
// folder; labels=PATH: y comes from other files. Up to 128 files of many samples stay open.
#include <algorithm>
#include <filesystem>
#include <string>

#include "isobar/datasets/file_cache.hpp"
#include "isobar/datasets/file_list.hpp"
#include "isobar/datasets/hdf5_channel_names.hpp"
#include "isobar/datasets/hdf5_format.hpp"
#include "isobar/datasets/hdf5_layouts.hpp"
#include "isobar/datasets/hdf5_sample_file.hpp"
#include "isobar/datasets/join_dataset.hpp"
#include "isobar/datasets/packing.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;

class Hdf5Samples final : public Dataset {
 public:
  /// `opened` is the first file.
  Hdf5Samples(fs::path path, std::vector<fs::path> files, const hdf5::Hdf5File& opened, Hdf5Reading reading,
              std::int64_t samples, Survey& survey)
      : path_(std::move(path)), files_(std::move(files)), reading_(std::move(reading)) {
    const auto first = std::make_shared<Hdf5SampleFile>(opened, reading_);
    if (!reading_.x.empty()) fields_.push_back({"x", first->x_shape()});
    if (!reading_.y.empty()) fields_.push_back({"y", first->y_shape()});
    whole_ = whole_region(fields_);
    channels_ = channel_names(opened, reading_);
    classes_ = first->classes();
    // Files of one sample are opened when they are read: a hundred thousand are not opened to begin.
    if (reading_.sample_axis) open_.get(0, [&] { return first; });
    const std::string question = fmt::format("hdf5\n{}\n{}\n{} {} {}", reading_.x, reading_.y, reading_.channels_first,
                                             reading_.plane, fmt::join(reading_.channels, " "));
    const auto count = [&](const fs::path& file) {
      return survey.number(question, file, [&] { return Hdf5SampleFile(file, reading_).size(); });
    };
    firsts_ = {0, first->size()};
    for (const fs::path& file : std::span(files_).subspan(1))
      firsts_.push_back(firsts_.back() + (reading_.sample_axis ? count(file) : 1));
    size_ = limited(path_, samples, firsts_.back());
  }

  std::int64_t size() const override { return size_; }
  std::vector<Field> fields() const override { return fields_; }
  std::vector<std::string> channels() const override { return channels_; }
  std::vector<std::string> classes() const override { return classes_; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    read_boxes(index, whole_, out);
  }
  void read_region(const Reading&, std::int64_t index, std::span<const Box> region,
                   std::span<const std::span<float>> out) const override {
    expects_request(index, region, out);
    read_boxes(index, region, out);
  }
  bool reads_regions() const override { return true; }

  std::string where(std::int64_t index) const override {
    const std::size_t f = file_of(firsts_, index);
    if (!reading_.sample_axis) return files_[f].string();
    return fmt::format("{} sample {}", files_[f].string(), index - firsts_[f]);
  }

  std::vector<FileSpan> spans() const override { return spans_of(files_, firsts_, size_); }

 private:
  static constexpr std::size_t most_open = 128;

  void read_boxes(std::int64_t index, std::span<const Box> region, std::span<const std::span<float>> out) const {
    const std::size_t f = file_of(firsts_, index);
    const auto open = [&] { return std::make_shared<Hdf5SampleFile>(files_[f], reading_); };
    const std::shared_ptr<const Hdf5SampleFile> file = reading_.sample_axis ? open_.get(f, open) : open();
    check(*file, f);
    if (!reading_.x.empty()) file->read_x(index - firsts_[f], region.front(), out.front());
    if (!reading_.y.empty()) file->read_y(index - firsts_[f], region.back(), out.back());
  }

  void check(const Hdf5SampleFile& file, std::size_t f) const {
    const auto same = [&](const std::string& name, const Shape& shape, const Shape& wanted) {
      if (shape != wanted)
        fail("{}: '{}' has shape {}, but {} in the first file, {}", files_[f].string(), name, shape.str(), wanted.str(),
             files_[0].filename().string());
    };
    if (!reading_.x.empty()) same(reading_.x, file.x_shape(), fields_.front().shape);
    if (!reading_.y.empty()) same(reading_.y, file.y_shape(), fields_.back().shape);
    if (file.size() != firsts_[f + 1] - firsts_[f])
      fail("{}: holds {} samples, there were {}", files_[f].string(), file.size(), firsts_[f + 1] - firsts_[f]);
  }

  fs::path path_;
  std::vector<fs::path> files_;
  Hdf5Reading reading_;
  std::vector<std::int64_t> firsts_;  // the number of the first sample of every file; then the number of all samples
  std::int64_t size_ = 0;
  std::vector<Field> fields_;
  Region whole_;
  std::vector<std::string> channels_, classes_;
  mutable FileCache<Hdf5SampleFile> open_{0, most_open};
};

void apply(const Hdf5Layout& layout, std::int64_t plane, Hdf5Reading& reading) {
  reading.x = layout.x;
  reading.y = layout.y;
  reading.sample_axis = layout.sample_axis;
  reading.channels_first = layout.channels_first;
  reading.plane = -1;
  if (layout.planes) reading.plane = std::max<std::int64_t>(0, plane);
  else if (plane > 0 && reading.y.ends_with("labels_0")) reading.y.back() = static_cast<char>('0' + plane);
}

std::unique_ptr<Dataset> make_hdf5(Args& args, Survey& survey) {
  const std::string layout_name = args.text("layout", "");
  const std::int64_t plane = args.integer("plane", -1), samples = args.integer("samples", 0);
  args.require(plane >= -1 && plane <= 9, "plane from 0 to 9, or -1 for no choice");
  args.require(samples >= 0, "samples >= 0, where 0 means all");
  Hdf5Reading given;
  if (!layout_name.empty()) apply(hdf5_layout(layout_name), plane, given);
  given.x = args.text("x", given.x);
  given.y = args.text("y", given.y);
  given.channels = args.integers("channels", {});
  given.scaling = args.flag("log", false) ? CountScaling::log : CountScaling::none;
  const bool channels_first = args.flag("channels_first", given.channels_first);
  const bool axis_known = args.has("sample_axis");
  const bool axis = args.flag("sample_axis", given.sample_axis);
  const std::string labels = args.text("labels", "");
  const fs::path path = args.text("path");  // last, so that a list of the arguments includes them all
  args.finish();
  const std::vector<fs::path> files = list_hdf5(path);

  const hdf5::Hdf5File first = hdf5::Hdf5File::open(files[0]);
  Hdf5Reading reading = given;
  if (layout_name.empty()) {
    const Hdf5Layout* const found = args.has("x") ? nullptr : recognise_layout(first);
    const bool single = fs::is_regular_file(path) || first.has_attribute("/", sample_axis_note);
    reading.sample_axis = single;
    if (plane >= 0) reading.plane = plane;
    if (found) apply(*found, plane, reading);
    if (args.has("y")) reading.y = given.y;
  }
  if (axis_known) reading.sample_axis = axis;
  if (args.has("channels_first")) reading.channels_first = channels_first;

  if (labels.empty()) return std::make_unique<Hdf5Samples>(path, files, first, reading, samples, survey);
  Hdf5Reading other = reading;
  reading.y.clear();
  auto x = std::make_unique<Hdf5Samples>(path, files, first, reading, samples, survey);
  if (labels == "folder") {
    args.require(!reading.sample_axis, "one sample per file (sample_axis=false) with labels=folder");
    std::vector<fs::path> used(files.begin(), files.begin() + x->size());
    return label_by_folder(std::move(x), used);
  }
  other.x.clear();
  const std::vector<fs::path> label_files = list_hdf5(labels);
  const hdf5::Hdf5File first_labels = hdf5::Hdf5File::open(label_files[0]);
  return join_datasets(std::move(x),
                       std::make_unique<Hdf5Samples>(labels, label_files, first_labels, other, samples, survey));
}

}  // namespace

extern const DatasetRow hdf5;
const DatasetRow hdf5{"hdf5",    "HDF5 files: a folder with one sample per file, or files with a sample axis",
                      make_hdf5, recognises_hdf5,
                      look_hdf5, create_hdf5};

}  // namespace isobar::datasets
