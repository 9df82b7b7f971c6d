// cifar10(path=..., part=train, samples=0) and cifar100(..., label=fine): the binary files of CIFAR, held in memory. A
// record is one label byte (CIFAR-100: coarse, then fine) and 3072 bytes, the planes R, G, B of 32 x 32 pixels; x is
// [32, 32, 3]. path is a folder with the usual names, the .tar.gz they come in, or a list of files of records.
#include <algorithm>
#include <filesystem>

#include "isobar/datasets/cifar_format.hpp"
#include "isobar/datasets/packing.hpp"
#include "isobar/files/archive.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t plane = 32 * 32, image_bytes = 3 * plane;

struct CifarSort {
  std::size_t label_bytes, label_at;
  int classes;
  std::vector<std::string> names;  // of the files of the part that is read, without extension
};

class Cifar final : public Dataset {
 public:
  Cifar(CifarSort kind, const std::vector<std::string>& paths, std::int64_t samples, std::int64_t max_bytes)
      : kind_(std::move(kind)), max_bytes_(max_bytes) {
    for (const std::string& path : paths) {
      if (std::error_code code; fs::is_directory(path, code)) add_folder(path);
      else add_file(path);
    }
    size_ = limited(paths[0], samples, bytes_.size() / record());
  }

  std::int64_t size() const override { return size_; }
  std::vector<Field> fields() const override { return {{"x", Shape{32, 32, 3}}, {"y", Shape{1}}}; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    const std::uint8_t* from = bytes_.data() + index * record();
    const int label = from[kind_.label_at];
    if (label >= kind_.classes) fail("label {} is no class; valid: 0 to {}", label, kind_.classes - 1);
    out[1][0] = static_cast<float>(label);
    const std::uint8_t* pixels = from + kind_.label_bytes;
    float* to = out[0].data();
    for (std::size_t p = 0; p < plane; ++p)
      for (std::size_t c = 0; c < 3; ++c) to[3 * p + c] = static_cast<float>(pixels[c * plane + p]);
  }

  std::string where(std::int64_t index) const override {
    const auto file = std::ranges::upper_bound(files_, index, {}, &File::first) - 1;
    return fmt::format("{} sample {}", file->name, index - file->first);
  }

 private:
  struct File {
    std::string name;
    std::int64_t first;  // the number of its first sample
  };

  std::size_t record() const { return kind_.label_bytes + image_bytes; }

  void add_folder(const fs::path& folder) {
    for (const std::string& name : kind_.names) {
      const auto has = [&](const char* ending) {
        std::error_code code;
        return fs::is_regular_file(folder / (name + ending), code);
      };
      const char* const endings[] = {".bin", ".bin.gz", ".bin.xz", ".bin.bz2", ".bin.zst"};
      const auto ending = std::ranges::find_if(endings, has);
      if (ending == std::end(endings))
        fail("{}: has no {}.bin, plain or compressed; a list of files can be given instead", folder.string(), name);
      add_file(folder / (name + *ending));
    }
  }

  // Adds a file of records, or the files of the wanted part of an archive, sorted by name.
  void add_file(const fs::path& path) {
    files::ArchiveReader reader(path);
    std::vector<std::pair<std::string, files::Bytes>> members;
    std::int64_t held = std::ssize(bytes_);
    while (reader.next()) {
      const fs::path name = reader.name();
      if (!name.empty() && (name.extension() != ".bin" || !std::ranges::count(kind_.names, name.stem().string())))
        continue;
      members.emplace_back(path.string() + (name.empty() ? "" : ": " + name.string()), files::Bytes());
      reader.append(members.back().second, max_bytes_ - held);
      held += std::ssize(members.back().second);
    }
    if (members.empty()) fail("{}: holds no records", path.string());
    std::ranges::sort(members);
    for (const auto& [name, content] : members) {
      if (content.empty() || content.size() % record() != 0)
        fail("{}: has {} bytes; valid: a multiple of {}, {} label and 3072 pixel bytes a sample", name, content.size(),
             record(), kind_.label_bytes);
      files_.push_back({name, static_cast<std::int64_t>(bytes_.size() / record())});
      bytes_.insert(bytes_.end(), content.begin(), content.end());
    }
  }

  CifarSort kind_;
  std::int64_t max_bytes_, size_ = 0;
  files::Bytes bytes_;
  std::vector<File> files_;
};

std::unique_ptr<Dataset> make_cifar(Args& args, CifarSort kind) {
  const std::int64_t samples = args.integer("samples", 0), limit = files::read_memory_limit(args);
  args.require(samples >= 0, "samples >= 0, where 0 means all");
  const std::vector<std::string> paths = args.texts("path", {});
  args.require(!paths.empty(), "path, a folder, an archive or a list of files");
  args.finish();
  return std::make_unique<Cifar>(std::move(kind), paths, samples, limit);
}

}  // namespace

extern const DatasetRow cifar10;
const DatasetRow cifar10{"cifar10",
                         "CIFAR-10 in its binary files",
                         [](Args& args, Survey&) -> std::unique_ptr<Dataset> {
                           const bool train = args.one_of("part", "train", {"train", "test"}) == "train";
                           std::vector<std::string> names{"test_batch"};
                           if (train)
                             names = {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"};
                           return make_cifar(args, {1, 0, 10, std::move(names)});
                         },
                         recognises_cifar10,
                         look_cifar10,
                         create_cifar10};

extern const DatasetRow cifar100;
const DatasetRow cifar100{"cifar100", "CIFAR-100 in its binary files, with its 100 fine or 20 coarse classes",
                          [](Args& args, Survey&) -> std::unique_ptr<Dataset> {
                            const std::string part = args.one_of("part", "train", {"train", "test"});
                            const bool fine = args.one_of("label", "fine", {"fine", "coarse"}) == "fine";
                            return make_cifar(args, {2, fine ? 1u : 0u, fine ? 100 : 20, {part}});
                          },
                          recognises_cifar100, look_cifar100};

}  // namespace isobar::datasets
