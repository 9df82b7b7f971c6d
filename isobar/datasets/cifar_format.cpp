// cifar10() as a format to write: one file of records, a label byte and the planes of 32 x 32 pixels in three colours.
#include "isobar/datasets/cifar_format.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/datasets/file_list.hpp"
#include "isobar/datasets/packing.hpp"
#include "isobar/disk/output_file.hpp"
#include "isobar/files/input_file.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t cifar_plane = 32 * 32, cifar_image_bytes = 3 * cifar_plane;

struct CifarArchive {
  std::string_view name, archive;
  std::vector<std::uint8_t> classes;  // of each label byte
  std::string first_file;
};

const CifarArchive ten{"cifar10", "cifar-10-batches-bin", {10}, "data_batch_1"};
const CifarArchive hundred{"cifar100", "cifar-100-binary", {20, 100}, "train"};

bool sound_labels(const CifarArchive& kind, const std::uint8_t* record) {
  for (std::size_t i = 0; i < kind.classes.size(); ++i)
    if (record[i] >= kind.classes[i]) return false;
  return true;
}

bool is_record_file(const CifarArchive& kind, const Glance& glance) {
  const std::size_t record = kind.classes.size() + cifar_image_bytes;
  const fs::path& file = glance.inside[0];
  if (!named_so(file, {".bin"}) || glance.head.size() < record || !sound_labels(kind, glance.head.data())) return false;
  if (file.extension() != ".bin")
    return glance.head.size() < record + 2 || sound_labels(kind, glance.head.data() + record);
  const files::InputFile in(file);
  const std::int64_t each = record;
  if (in.size() % each != 0) return false;
  constexpr std::int64_t looked_at = 64;
  std::vector<std::uint8_t> labels(kind.classes.size());
  for (std::int64_t i = 0; i < std::min(looked_at, in.size() / each); ++i) {
    in.read_at(i * each, labels);
    if (!sound_labels(kind, labels.data())) return false;
  }
  return true;
}

bool recognises(const CifarArchive& kind, const Glance& glance) {
  if (glance.begins(kind.archive)) return true;  // the first name in the tar archive they come in
  if (!glance.folder) return is_record_file(kind, glance);
  return std::ranges::any_of(glance.inside, [&](const fs::path& file) {
    return file.parent_path() == glance.path && named_so(file, {".bin"}) &&
           file.filename().string().starts_with(kind.first_file + ".bin");
  });
}

Contents look(const CifarArchive& kind, const Glance& glance) {
  Contents contents;
  const std::size_t record = kind.classes.size() + cifar_image_bytes;
  contents.summary = fmt::format("CIFAR-{}, binary", kind.classes.back());
  std::error_code code;
  std::string count = "n";
  if (!glance.folder && glance.path.extension() == ".bin")
    count = fmt::format("{}", fs::file_size(glance.path, code) / record);
  contents.parts.push_back({"images", fmt::format("[{}, 3, 32, 32]", count), "uint8", "planes red, green, blue"});
  contents.parts.push_back({"labels", fmt::format("[{}, {}]", count, kind.classes.size()), "uint8", ""});
  contents.readers.push_back(Spec(std::string(kind.name), {{"path", glance.path.string()}}));
  return contents;
}

class CifarSamples final : public SampleWriter {
 public:
  CifarSamples(const fs::path& to, const Outline& outline) : outline_(outline), file_(to) {
    if (outline.fields.size() != 2 || outline.fields[0].shape != Shape{32, 32, 3} ||
        outline.fields[1].shape != Shape{1})
      fail("cifar10: samples are {}; the format holds x 32x32x3 with y 1", outline.fields[0].shape.str());
  }

  void write(std::span<const std::span<const float>> fields) override {
    pack_field(files::NumberType::uint8, count_, outline_.fields[0], fields[0], pixels_);
    record_.assign(1, static_cast<std::uint8_t>(class_number(count_, fields[1][0], 9)));
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t p = 0; p < cifar_plane; ++p) record_.push_back(pixels_[3 * p + c]);
    file_.write(record_);
    ++count_;
  }
  void finish() override { file_.commit(); }

 private:
  Outline outline_;
  disk::OutputFile file_;
  std::vector<std::uint8_t> pixels_, record_;
  std::int64_t count_ = 0;
};

}  // namespace

bool recognises_cifar10(const Glance& glance) { return recognises(ten, glance); }
bool recognises_cifar100(const Glance& glance) { return recognises(hundred, glance); }
Contents look_cifar10(const Glance& glance) { return look(ten, glance); }
Contents look_cifar100(const Glance& glance) { return look(hundred, glance); }

std::unique_ptr<SampleWriter> create_cifar10(const fs::path& to, const Outline& outline, Args& args) {
  args.finish();
  return std::make_unique<CifarSamples>(to, outline);
}

}  // namespace isobar::datasets
