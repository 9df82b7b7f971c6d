// npy(path=..., labels='', x=x, y=y, log=false, samples=0): NumPy arrays. A .npy file has the sample as its first axis,
// and `labels` names the file of the labels; an .npz archive holds both as members x and y, in memory. In a folder, or
// with a pattern, each file is one sample, with labels=folder, a file of all labels, or y from each .npz.
#include <algorithm>

#include "isobar/datasets/counts.hpp"
#include "isobar/datasets/file_list.hpp"
#include "isobar/datasets/join_dataset.hpp"
#include "isobar/datasets/npy_format.hpp"
#include "isobar/datasets/packing.hpp"
#include "isobar/files/npy_file.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;

struct NpyOptions {
  fs::path path;
  std::string x, y;
  CountScaling scaling = CountScaling::none;
  std::int64_t samples = 0, max_bytes = 0;
  bool archive = false;  // .npz
};

bool is_npz(const fs::path& file, Survey& survey) {
  if (named_so(file, {".npz", ".npy"})) return named_so(file, {".npz"});
  return survey.number("npz", file, [&] {
    const files::InputFile opened(file);
    std::uint8_t mark[2]{};
    if (opened.size() > 2) opened.read_at(0, mark);
    return mark[0] == 'P' && mark[1] == 'K';
  }) != 0;
}

/// Arrays whose first axis is the sample: x, and y if there is one.
class SampleAxis final : public Dataset {
 public:
  SampleAxis(const NpyOptions& options, std::vector<files::NpyFile> arrays)
      : path_(options.path), scaling_(options.scaling), arrays_(std::move(arrays)) {
    for (std::size_t f = 0; f < arrays_.size(); ++f) {
      const Shape& shape = arrays_[f].shape();
      if (shape.rank() < 1 || !is_sound(shape))
        fail("{}: {} has shape [{}]; samples need a first axis, and numbers", path_.string(), f == 0 ? "x" : "y",
             fmt::join(shape.extents(), ", "));
      if (shape[0] != arrays_[0].shape()[0])
        fail("{}: y has {} entries, but x has {} samples", path_.string(), shape[0], arrays_[0].shape()[0]);
      fields_.push_back({f == 0 ? "x" : "y", row_shape(shape)});
    }
    size_ = limited(path_, options.samples, arrays_[0].shape()[0]);
  }

  std::int64_t size() const override { return size_; }
  std::vector<Field> fields() const override { return fields_; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    for (std::size_t f = 0; f < out.size(); ++f) arrays_[f].read(index * std::ssize(out[f]), out[f]);
    apply_scaling(scaling_, out[0]);
  }

  std::string where(std::int64_t index) const override { return fmt::format("{} sample {}", path_.string(), index); }

 private:
  fs::path path_;
  CountScaling scaling_;
  std::vector<files::NpyFile> arrays_;
  std::int64_t size_ = 0;
  std::vector<Field> fields_;
};

std::vector<std::string> members(const NpyOptions& options) {
  return options.y.empty() ? std::vector{options.x} : std::vector{options.x, options.y};
}

std::vector<files::NpyFile> open_arrays(const fs::path& file, const NpyOptions& options) {
  std::vector<files::NpyFile> arrays;
  if (!options.archive) {
    arrays.emplace_back(file, options.max_bytes);
    return arrays;
  }
  auto all = files::read_npz(file, members(options), options.max_bytes);
  for (const std::string& name : members(options)) arrays.push_back(std::move(all.at(name)));
  return arrays;
}

/// Files with one sample each.
class SampleFiles final : public Dataset {
 public:
  SampleFiles(const NpyOptions& options, std::vector<fs::path> files) : options_(options), files_(std::move(files)) {
    const auto found = std::ssize(files_);
    files_.resize(limited(options_.path, options_.samples, found));
    for (const files::NpyFile& array : open_arrays(files_[0], options_)) {
      if (!is_sound(array.shape())) fail("{}: holds no numbers", files_[0].string());
      fields_.push_back({fields_.empty() ? "x" : "y", array.shape().rank() == 0 ? Shape{1} : array.shape()});
    }
  }

  std::int64_t size() const override { return std::ssize(files_); }
  std::vector<Field> fields() const override { return fields_; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    const std::vector<files::NpyFile> arrays = open_arrays(files_[index], options_);
    expects(arrays.size() == out.size(), "files of one kind");
    for (std::size_t f = 0; f < out.size(); ++f) {
      const Shape shape = arrays[f].shape().rank() == 0 ? Shape{1} : arrays[f].shape();
      if (shape != fields_[f].shape)
        fail("{} is [{}], but [{}] in the first file, {}", fields_[f].name, fmt::join(shape.extents(), ", "),
             fmt::join(fields_[f].shape.extents(), ", "), files_[0].filename().string());
      arrays[f].read(0, out[f]);
    }
    apply_scaling(options_.scaling, out[0]);
  }

  std::string where(std::int64_t index) const override { return files_[index].string(); }

  std::vector<FileSpan> spans() const override {
    std::vector<FileSpan> list;
    for (std::size_t f = 0; f < files_.size(); ++f) list.push_back({files_[f], static_cast<std::int64_t>(f), 1});
    return list;
  }

 private:
  NpyOptions options_;
  std::vector<fs::path> files_;
  std::vector<Field> fields_;
};

// All files of one kind: that of the first.
std::vector<fs::path> sample_files(const fs::path& path, Survey& survey) {
  std::vector<fs::path> files = list_files(path, {".npy", ".npz"});
  const bool archive = is_npz(files[0], survey);
  std::erase_if(files, [&](const fs::path& file) { return is_npz(file, survey) != archive; });
  return files;
}

std::unique_ptr<Dataset> make_npy(Args& args, Survey& survey) {
  NpyOptions options;
  const std::string labels = args.text("labels", "");
  options.x = args.text("x", "x");
  options.y = args.text("y", "y");
  options.scaling = args.flag("log", false) ? CountScaling::log : CountScaling::none;
  options.samples = args.integer("samples", 0);
  options.max_bytes = files::read_memory_limit(args);
  args.require(options.samples >= 0, "samples >= 0, where 0 means all");
  args.require(!options.x.empty(), "the name of x");
  options.path = args.text("path");
  args.finish();
  std::error_code code;
  const bool one = fs::is_regular_file(options.path, code);
  const std::vector<fs::path> files = one ? std::vector{options.path} : sample_files(options.path, survey);
  options.archive = is_npz(files[0], survey);
  if (!labels.empty()) options.y.clear();
  std::unique_ptr<Dataset> samples;
  if (one) samples = std::make_unique<SampleAxis>(options, open_arrays(options.path, options));
  else samples = std::make_unique<SampleFiles>(options, files);
  if (labels.empty()) return samples;
  if (labels == "folder") return label_by_folder(std::move(samples), files);
  NpyOptions other = options;
  other.path = labels;
  other.scaling = CountScaling::none;
  other.archive = is_npz(labels, survey);
  return join_datasets(std::move(samples), std::make_unique<SampleAxis>(other, open_arrays(other.path, other)));
}

}  // namespace

extern const DatasetRow npy;
const DatasetRow npy{"npy",    "NumPy arrays: .npy and .npz files with a sample axis, or one sample a file",
                     make_npy, recognises_npy,
                     look_npy, create_npy};

}  // namespace isobar::datasets
