// npy(type=float32, y_type=float32) as a format to write: a name that ends in .npy becomes the array of x, with that of
// y next to it (train_y.npy for train.npy); any other name becomes an .npz archive of both.
#include "isobar/datasets/npy_format.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "isobar/base/error.hpp"
#include "isobar/datasets/file_list.hpp"
#include "isobar/datasets/packing.hpp"
#include "isobar/disk/output_file.hpp"
#include "isobar/files/archive_writer.hpp"
#include "isobar/files/npy_file.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;

fs::path labels_file(const fs::path& x) { return x.parent_path() / (x.stem().string() + "_y.npy"); }

// Writes one array, sample after sample.
class ArrayWriter {
 public:
  ArrayWriter(const fs::path& to, const Field& field, std::int64_t count, files::NumberType type)
      : field_(field), type_(type), file_(to) {
    std::vector<std::int64_t> extents = field.shape.extents();
    extents.insert(extents.begin(), count);
    if (field.shape == Shape{1}) extents.pop_back();
    header_ = files::npy_header(type, Shape(extents));
    file_.write(header_);
    bytes_ = std::ssize(header_) + count * field.shape.count() * files::width_of(type);
  }

  void write(std::int64_t sample, std::span<const float> numbers) {
    pack_field(type_, sample, field_, numbers, packed_);
    file_.write(packed_);
  }
  void commit() { file_.commit(); }
  const fs::path& path() const { return file_.path(); }
  std::int64_t bytes() const { return bytes_; }
  const std::string& name() const { return field_.name; }

 private:
  Field field_;
  files::NumberType type_;
  disk::OutputFile file_;
  files::Bytes header_, packed_;
  std::int64_t bytes_ = 0;
};

class NpySamples final : public SampleWriter {
 public:
  NpySamples(const fs::path& to, const Outline& outline, const std::vector<files::NumberType>& types)
      : count_(outline.count) {
    const bool archive = !named_so(to, {".npy"});
    // Arrays are separate until all samples are written: the members of an archive cannot grow side by side.
    if (archive) parts_.emplace(to.string() + ".arrays"), archive_.emplace(to, files::ArchiveWriter::Kind::zip);
    for (std::size_t f = 0; f < outline.fields.size(); ++f) {
      const fs::path path = archive  ? parts_->inside() / (outline.fields[f].name + ".npy")
                            : f == 0 ? to
                                     : labels_file(to);
      std::error_code code;
      if (fs::exists(path, code)) fail("{}: exists already; nothing is written over it", path.string());
      arrays_.push_back(std::make_unique<ArrayWriter>(path, outline.fields[f], count_, types[f == 0 ? 0 : 1]));
    }
  }

  void write(std::span<const std::span<const float>> fields) override {
    expects(fields.size() == arrays_.size(), "every field of the sample");
    for (std::size_t f = 0; f < fields.size(); ++f) arrays_[f]->write(written_, fields[f]);
    ++written_;
  }

  void finish() override {
    expects(written_ == count_, "as many samples as were announced");
    for (const auto& array : arrays_) array->commit();
    if (!archive_) return;
    for (const auto& array : arrays_) {
      archive_->begin(array->name() + ".npy", array->bytes());
      const files::InputFile from(array->path());
      constexpr std::int64_t piece = 1 << 20;
      std::vector<std::uint8_t> bytes;
      for (std::int64_t at = 0; at < from.size(); at += piece) {
        bytes.resize(std::min(piece, from.size() - at));
        from.read_at(at, bytes);
        archive_->write(bytes);
      }
    }
    archive_->commit();
  }

 private:
  std::int64_t count_, written_ = 0;
  std::optional<disk::OutputFolder> parts_;
  std::optional<files::ArchiveWriter> archive_;
  std::vector<std::unique_ptr<ArrayWriter>> arrays_;
};

std::string shown(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape.extents(), ", ")); }

std::string shown_type(const files::NpyHeader& header) {
  return fmt::format("{}{}{}", name_of(header.type), header.order == std::endian::big ? ", big-endian" : "",
                     header.fortran ? ", Fortran order" : "");
}

void look_archive(const fs::path& file, Spec spec, Contents& contents) {
  const std::vector<files::NpzMember> members = files::list_npz(file);
  const files::NpzMember *x = nullptr, *y = nullptr;
  for (const files::NpzMember& member : members) {
    if (!member.header) {
      contents.parts.push_back({member.name, "", "", member.refused});
      continue;
    }
    contents.parts.push_back({member.name, shown(member.header->shape), shown_type(*member.header), ""});
    if (!x || member.name == "x") x = &member;
  }
  for (const files::NpzMember& member : members)
    if (member.header && &member != x && (!y || member.name == "y") && member.header->shape.rank() > 0 &&
        x->header->shape.rank() > 0 && member.header->shape[0] == x->header->shape[0])
      y = &member;
  if (!x) {
    contents.obstacle = "no array of the archive holds numbers";
    return;
  }
  if (x->name != "x") spec.set("x", x->name);
  if (!y) spec.set("y", "");
  else if (y->name != "y") spec.set("y", y->name);
  contents.readers.push_back(std::move(spec));
}

}  // namespace

bool recognises_npy(const Glance& glance) {
  if (glance.begins("\x93NUMPY")) return true;
  // A zip archive whose first file is an array: its name follows 30 bytes of header.
  if (!glance.begins("PK\x03\x04") || glance.head.size() < 30) return false;
  const std::size_t length = glance.head[26] + 256u * glance.head[27];
  return length > 4 && glance.begins(".npy", 30 + length - 4);
}

Contents look_npy(const Glance& glance) {
  const fs::path& first = glance.inside[0];
  Spec spec("npy", {{"path", glance.path.string()}});
  Contents contents;
  contents.summary = "NumPy array";
  if (glance.folder) {
    const std::vector<fs::path> files = list_files(glance.path, {".npy", ".npz"});
    std::set<fs::path> folders;
    for (const fs::path& file : files) folders.insert(file.parent_path());
    contents.summary = fmt::format("NumPy, {} files with one sample each", files.size());
    if (folders.size() > 1) spec.set("labels", "folder");
  }
  if (!glance.begins("\x93NUMPY")) {
    if (!glance.folder) contents.summary = "NumPy archive";
    look_archive(first, std::move(spec), contents);
    return contents;
  }
  try {
    const files::NpyHeader header = files::read_npy_header(glance.head);
    contents.parts.push_back({first.filename().string(), shown(header.shape), shown_type(header), ""});
  } catch (const Error& error) {
    contents.obstacle = error.what();
    return contents;
  }
  std::error_code code;
  if (!glance.folder && fs::exists(labels_file(first), code)) spec.set("labels", labels_file(first).string());
  contents.readers.push_back(std::move(spec));
  return contents;
}

std::unique_ptr<SampleWriter> create_npy(const fs::path& to, const Outline& outline, Args& args) {
  const std::vector<files::NumberType> types{read_number_type(args, "type", files::NumberType::float32),
                                             read_number_type(args, "y_type", files::NumberType::float32)};
  args.finish();
  return std::make_unique<NpySamples>(to, outline, types);
}

}  // namespace isobar::datasets
