// mnist(path=..., part=train, samples=0): the four files of MNIST and its successors under their usual names in one
// folder, compressed or not: train-images-idx3-ubyte, train-labels-idx1-ubyte, and t10k- for part=test.
#include <filesystem>

#include "isobar/data/idx_dataset.hpp"
#include "isobar/files/archive.hpp"

namespace isobar::data {
namespace {

namespace fs = std::filesystem;

// Some copies have a dot where the original names have a dash.
fs::path find_file(const fs::path& folder, const std::string& part, const std::string& kind, char rank) {
  for (const char joint : {'-', '.'}) {
    const std::string name = fmt::format("{}-{}{}idx{}-ubyte", part, kind, joint, rank);
    for (const char* ending : {"", ".gz", ".xz", ".bz2", ".zst"})
      if (std::error_code code; fs::is_regular_file(folder / (name + ending), code)) return folder / (name + ending);
  }
  fail("{}: has no {}-{}-idx{}-ubyte, plain or compressed", folder.string(), part, kind, rank);
}

}  // namespace

extern const DatasetRow mnist;
const DatasetRow mnist{"mnist", "handwritten digits: a folder with the four idx files of MNIST",
                       [](Args& args) -> std::unique_ptr<Dataset> {
                         const std::string part = args.one_of("part", "train", {"train", "test"});
                         const std::int64_t samples = args.integer("samples", 0),
                                            limit = files::read_memory_limit(args);
                         args.require(samples >= 0, "samples >= 0, where 0 means all");
                         const fs::path folder = args.text("path");
                         args.finish();
                         const std::string prefix = part == "train" ? "train" : "t10k";
                         return open_idx(find_file(folder, prefix, "images", '3'),
                                         find_file(folder, prefix, "labels", '1'), samples, limit);
                       }};

}  // namespace isobar::data
