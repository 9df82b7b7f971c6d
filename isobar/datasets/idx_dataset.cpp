// idx(path=..., labels='', samples=0): images and labels in idx files, compressed or not, held in memory. If `labels`
// is not given, they are looked for next to the images: train-labels-idx1-ubyte for train-images-idx3-ubyte,
// set-labels.idx for set.idx; if there are none, samples have only x. images=... means the same as path=....
#include "isobar/datasets/idx_dataset.hpp"

#include <algorithm>
#include <optional>

#include "isobar/datasets/packing.hpp"
#include "isobar/disk/output_file.hpp"
#include "isobar/files/idx_file.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;

class IdxDataset final : public Dataset {
 public:
  IdxDataset(const fs::path& images, const fs::path& labels, std::int64_t samples, std::int64_t max_bytes)
      : name_(images.string()), images_(images, max_bytes) {
    const Shape& x = images_.shape();
    if (x.rank() < 2) fail("{}: has shape {}; images need a sample axis and at least one more", name_, x.str());
    fields_ = {{"x", x.rank() == 3 ? Shape{x[1], x[2], 1} : row_shape(x)}};
    if (!labels.empty()) {
      labels_.emplace(labels, max_bytes);
      const Shape& y = labels_->shape();
      if (x[0] != y[0]) fail("{}: holds {} labels, but {} has {} images", labels.string(), y[0], name_, x[0]);
      fields_.push_back({"y", row_shape(y)});
    }
    size_ = limited(name_, samples, x[0]);
  }

  std::int64_t size() const override { return size_; }
  std::vector<Field> fields() const override { return fields_; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    images_.read_row(index, out[0]);
    if (labels_) labels_->read_row(index, out[1]);
  }

  std::string where(std::int64_t index) const override { return fmt::format("{} sample {}", name_, index); }

 private:
  std::string name_;
  files::IdxFile images_;
  std::optional<files::IdxFile> labels_;
  std::int64_t size_ = 0;
  std::vector<Field> fields_;
};

fs::path labels_name(const fs::path& images) {
  std::string name = images.filename().string();
  if (const std::size_t at = name.rfind("images"); at != std::string::npos) {
    name.replace(at, 6, "labels");
    if (const std::size_t rank = name.rfind("idx3"); rank != std::string::npos) name.replace(rank, 4, "idx1");
  } else {
    const std::size_t dot = std::min(name.find('.', 1), name.size());
    name.insert(dot, "-labels");
  }
  return images.parent_path() / name;
}

fs::path labels_beside(const fs::path& images) {
  std::error_code code;
  const fs::path beside = labels_name(images);
  return fs::is_regular_file(beside, code) ? beside : fs::path();
}

std::unique_ptr<Dataset> make_idx(Args& args, Survey&) {
  const std::int64_t samples = args.integer("samples", 0), limit = files::read_memory_limit(args);
  args.require(samples >= 0, "samples >= 0, where 0 means all");
  const std::string labels = args.text("labels", "");
  const fs::path images = args.has("images") ? args.text("images") : args.text("path");
  args.finish();
  return open_idx(images, labels.empty() ? labels_beside(images) : fs::path(labels), samples, limit);
}

bool recognises_idx(const Glance& glance) {
  if (glance.folder || glance.head.size() < 8) return false;
  const auto header = files::read_idx_header(glance.head);
  if (!header) return false;
  // Four bytes are not much evidence: the size must match them, as far as it can be known without unpacking.
  if (glance.head.size() < 4096) return glance.head.size() == header->bytes;
  std::error_code code;
  const std::uintmax_t bytes = fs::file_size(glance.path, code);
  const std::string ending = glance.path.extension().string();
  const bool packed = ending == ".gz" || ending == ".xz" || ending == ".bz2" || ending == ".zst";
  return packed || bytes == header->bytes;
}

Contents look_idx(const Glance& glance) {
  const auto header = files::read_idx_header(glance.head);
  Contents contents;
  contents.summary = "idx, the format of MNIST";
  if (!header) {
    contents.obstacle = "the header is damaged";
    return contents;
  }
  const auto part = [](const fs::path& file, const files::IdxHeader& of) {
    return FilePart{file.filename().string(), fmt::format("[{}]", fmt::join(of.shape.extents(), ", ")),
                    std::string(of.type), ""};
  };
  contents.parts.push_back(part(glance.path, *header));
  Spec spec("idx", {{"path", glance.path.string()}});
  if (const fs::path labels = labels_beside(glance.path); !labels.empty()) {
    if (const auto beside = files::read_idx_header(files::first_content(labels, 64)))
      contents.parts.push_back(part(labels, *beside));
    spec.set("labels", labels.string());
  }
  if (header->shape.rank() < 2) contents.obstacle = "a list of numbers is not a set of images; it may be their labels";
  else contents.readers.push_back(std::move(spec));
  return contents;
}

/// idx(type=uint8, y_type=uint8) as a format to write: the images under the given name, the labels next to them.
class IdxSamples final : public SampleWriter {
 public:
  IdxSamples(const fs::path& to, const Outline& outline, const std::vector<files::NumberType>& types)
      : outline_(outline), types_(types) {
    for (std::size_t f = 0; f < outline.fields.size(); ++f) {
      const fs::path path = f == 0 ? to : labels_name(to);
      std::error_code code;
      if (fs::exists(path, code)) fail("{}: exists already; nothing is written over it", path.string());
      std::vector<std::int64_t> extents = outline.fields[f].shape.extents();
      extents.insert(extents.begin(), outline.count);
      // A single channel or label has no axis.
      if ((f == 0 && extents.size() == 4 && extents[3] == 1) || (f > 0 && extents.size() == 2 && extents[1] == 1))
        extents.pop_back();
      files_.push_back(std::make_unique<disk::OutputFile>(path));
      files_.back()->write(files::idx_header(types[f], Shape(extents)));
    }
  }

  void write(std::span<const std::span<const float>> fields) override {
    expects(fields.size() == files_.size(), "every field of the sample");
    for (std::size_t f = 0; f < fields.size(); ++f) {
      pack_field(types_[f], count_, outline_.fields[f], fields[f], bytes_);
      const std::ptrdiff_t width = files::width_of(types_[f]);
      for (auto at = bytes_.begin(); width > 1 && at != bytes_.end(); at += width) std::reverse(at, at + width);
      files_[f]->write(bytes_);
    }
    ++count_;
  }

  void finish() override {
    expects(count_ == outline_.count, "as many samples as were announced");
    for (const auto& file : files_) file->commit();
  }

 private:
  Outline outline_;
  std::vector<files::NumberType> types_;
  std::vector<std::unique_ptr<disk::OutputFile>> files_;
  std::vector<std::uint8_t> bytes_;
  std::int64_t count_ = 0;
};

std::unique_ptr<SampleWriter> create_idx(const fs::path& to, const Outline& outline, Args& args) {
  const std::vector<files::NumberType> types{read_number_type(args, "type", files::NumberType::uint8),
                                             read_number_type(args, "y_type", files::NumberType::uint8)};
  for (const files::NumberType type : types)
    args.require(files::idx_can_hold(type), "type and y_type one of uint8, int8, int16, int32, float32, float64");
  args.finish();
  return std::make_unique<IdxSamples>(to, outline, types);
}

}  // namespace

std::unique_ptr<Dataset> open_idx(const fs::path& images, const fs::path& labels, std::int64_t samples,
                                  std::int64_t max_bytes) {
  return std::make_unique<IdxDataset>(images, labels, samples, max_bytes);
}

extern const DatasetRow idx;
const DatasetRow idx{
    "idx", "images and labels in two idx files, the format of MNIST", make_idx, recognises_idx, look_idx, create_idx};

}  // namespace isobar::datasets
