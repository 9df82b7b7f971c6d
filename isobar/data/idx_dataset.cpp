// idx(images=..., labels=..., samples=0): images and labels in idx files, compressed or not, held in memory.
#include "isobar/data/idx_dataset.hpp"

#include "isobar/files/idx_file.hpp"

namespace isobar::data {
namespace {

class IdxDataset final : public Dataset {
 public:
  IdxDataset(const std::filesystem::path& images, const std::filesystem::path& labels, std::int64_t samples,
             std::int64_t max_bytes)
      : name_(images.string()), images_(images, max_bytes), labels_(labels, max_bytes) {
    const Shape &x = images_.shape(), &y = labels_.shape();
    if (x.rank() < 2) fail("{}: has shape {}; images need a sample axis and at least one more", name_, x.str());
    if (x[0] != y[0]) fail("{}: holds {} labels, but {} has {} images", labels.string(), y[0], name_, x[0]);
    if (samples > x[0]) fail("{}: {} samples were asked for, there are {}", name_, samples, x[0]);
    size_ = samples > 0 ? samples : x[0];
    const Shape image = x.rank() == 3 ? Shape{x[1], x[2], 1} : without_first(x);
    const Shape label = y.rank() == 1 ? Shape{1} : without_first(y);
    fields_ = {{"x", image}, {"y", label}};
  }

  std::int64_t size() const override { return size_; }
  std::vector<Field> fields() const override { return fields_; }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    images_.read_row(index, out[0]);
    labels_.read_row(index, out[1]);
  }

  std::string where(std::int64_t index) const override { return fmt::format("{} sample {}", name_, index); }

 private:
  static Shape without_first(const Shape& shape) {
    return Shape(std::vector<std::int64_t>(shape.extents().begin() + 1, shape.extents().end()));
  }

  std::string name_;
  files::IdxFile images_, labels_;
  std::int64_t size_ = 0;
  std::vector<Field> fields_;
};

}  // namespace

std::unique_ptr<Dataset> open_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                                  std::int64_t samples, std::int64_t max_bytes) {
  return std::make_unique<IdxDataset>(images, labels, samples, max_bytes);
}

extern const DatasetRow idx;
const DatasetRow idx{"idx", "images and labels in two idx files, the format of MNIST",
                     [](Args& args) -> std::unique_ptr<Dataset> {
                       const std::int64_t samples = args.integer("samples", 0), limit = files::read_memory_limit(args);
                       args.require(samples >= 0, "samples >= 0, where 0 means all");
                       const std::string images = args.text("images"), labels = args.text("labels");
                       args.finish();
                       return open_idx(images, labels, samples, limit);
                     }};

}  // namespace isobar::data
