// mnist(path=..., part=train, samples=0): the four files of MNIST and its successors under their usual names in one
// folder, compressed or not: train-images-idx3-ubyte, train-labels-idx1-ubyte, and t10k- for part=test.
#include <filesystem>

#include "isobar/datasets/format.hpp"
#include "isobar/datasets/idx_dataset.hpp"
#include "isobar/files/idx_file.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;

// Some copies have a dot where the original names have a dash. Returns an empty path if there is no file.
fs::path look_for(const fs::path& folder, const std::string& part, const std::string& kind, char rank) {
  for (const char joint : {'-', '.'}) {
    const std::string name = fmt::format("{}-{}{}idx{}-ubyte", part, kind, joint, rank);
    for (const char* ending : {"", ".gz", ".xz", ".bz2", ".zst"})
      if (std::error_code code; fs::is_regular_file(folder / (name + ending), code)) return folder / (name + ending);
  }
  return {};
}

fs::path find_file(const fs::path& folder, const std::string& part, const std::string& kind, char rank) {
  fs::path found = look_for(folder, part, kind, rank);
  if (found.empty()) fail("{}: has no {}-{}-idx{}-ubyte, plain or compressed", folder.string(), part, kind, rank);
  return found;
}

bool recognises_mnist(const Glance& glance) {
  return glance.folder && (!look_for(glance.path, "train", "images", '3').empty() ||
                           !look_for(glance.path, "t10k", "images", '3').empty());
}

Contents look_mnist(const Glance& glance) {
  Contents contents;
  contents.summary = "the idx files of MNIST, or of a set like it";
  for (const char* part : {"train", "t10k"}) {
    const fs::path images = look_for(glance.path, part, "images", '3'),
                   labels = look_for(glance.path, part, "labels", '1');
    for (const fs::path& file : {images, labels}) {
      if (file.empty()) continue;
      const auto header = files::read_idx_header(files::first_content(file, 64));
      if (!header) fail("{}: is not an idx file", file.string());
      contents.parts.push_back({file.filename().string(), fmt::format("[{}]", fmt::join(header->shape.extents(), ", ")),
                                std::string(header->type), ""});
    }
    if (images.empty() || labels.empty()) continue;
    const bool train = part == std::string_view("train");
    contents.readers.push_back(
        Spec("mnist", {{"path", glance.path.string()}, {"part", Spec(train ? "train" : "test", {})}}));
  }
  if (contents.readers.empty()) contents.obstacle = "images without the file of their labels";
  return contents;
}

}  // namespace

extern const DatasetRow mnist;
const DatasetRow mnist{"mnist", "handwritten digits: a folder with the four idx files of MNIST",
                       [](Args& args, Survey&) -> std::unique_ptr<Dataset> {
                         const std::string part = args.one_of("part", "train", {"train", "test"});
                         const std::int64_t samples = args.integer("samples", 0),
                                            limit = files::read_memory_limit(args);
                         args.require(samples >= 0, "samples >= 0, where 0 means all");
                         const fs::path folder = args.text("path");
                         args.finish();
                         const std::string prefix = part == "train" ? "train" : "t10k";
                         return open_idx(find_file(folder, prefix, "images", '3'),
                                         find_file(folder, prefix, "labels", '1'), samples, limit);
                       },
                       recognises_mnist, look_mnist};

}  // namespace isobar::datasets
