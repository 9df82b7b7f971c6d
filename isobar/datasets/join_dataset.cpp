// join(x='...', y='...'): x of one data set, y of another, in any formats.
#include "isobar/datasets/join_dataset.hpp"

#include <algorithm>
#include <map>

namespace isobar::datasets {
namespace {

class Join final : public Dataset {
 public:
  Join(std::unique_ptr<Dataset> x, std::unique_ptr<Dataset> y)
      : x_(std::move(x)), y_(std::move(y)), x_fields_(x_->fields()), y_fields_(y_->fields()) {
    if (x_->size() != y_->size())
      fail("join: x has {} samples ({} ...), y has {} ({} ...)", x_->size(), x_->where(0), y_->size(), y_->where(0));
    label_ = y_fields_.size() > 1 ? 1 : 0;
  }

  std::int64_t size() const override { return x_->size(); }
  std::vector<Field> fields() const override { return {x_fields_[0], {"y", y_fields_[label_].shape}}; }
  std::vector<std::string> channels() const override { return x_->channels(); }
  std::vector<std::string> classes() const override { return y_->classes(); }
  std::vector<FileSpan> spans() const override { return x_->spans(); }
  std::optional<Geography> geography() const override { return x_->geography(); }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    read_region({}, index, whole_region(fields()), out);
  }
  void read_region(const Reading&, std::int64_t index, std::span<const Box> region,
                   std::span<const std::span<float>> out) const override {
    expects_request(index, region, out);
    read_field(*x_, x_fields_, 0, index, region[0], out[0]);
    read_field(*y_, y_fields_, label_, index, region[1], out[1]);
  }
  bool reads_regions() const override { return x_->reads_regions() || y_->reads_regions(); }

  std::string where(std::int64_t index) const override {
    return fmt::format("{} with {}", x_->where(index), y_->where(index));
  }

 private:
  static void read_field(const Dataset& from, const std::vector<Field>& fields, std::size_t wanted, std::int64_t index,
                         const Box& part, std::span<float> out) {
    Region region;
    for (const Field& field : fields) region.push_back(Box::none(field.shape));
    std::vector<std::span<float>> parts(fields.size());
    region[wanted] = part;
    parts[wanted] = out;
    from.read_region({}, index, region, parts);
  }

  std::unique_ptr<Dataset> x_, y_;
  std::vector<Field> x_fields_, y_fields_;
  std::size_t label_ = 0;  // the field of y_ that is read
};

class FolderLabels final : public Dataset {
 public:
  FolderLabels(std::unique_ptr<Dataset> x, const std::vector<std::filesystem::path>& files) : x_(std::move(x)) {
    expects(x_->fields().size() == 1, "samples without labels");
    if (std::ssize(files) < x_->size())
      fail("labels = folder: {} samples lie in {} files; it needs one sample a file", x_->size(), files.size());
    std::map<std::string, int> numbers;
    const auto class_of = [](const std::filesystem::path& file) {
      return std::filesystem::absolute(file).parent_path().filename().string();
    };
    for (const auto& file : files) numbers.emplace(class_of(file), 0);
    for (auto& [name, number] : numbers) {
      number = classes_.size();
      classes_.push_back(name);
    }
    for (const auto& file : files) labels_.push_back(numbers.at(class_of(file)));
  }

  std::int64_t size() const override { return x_->size(); }
  std::vector<Field> fields() const override { return {x_->fields()[0], {"y", Shape{1}}}; }
  std::vector<std::string> channels() const override { return x_->channels(); }
  std::vector<std::string> classes() const override { return classes_; }
  std::vector<FileSpan> spans() const override { return x_->spans(); }
  std::optional<Geography> geography() const override { return x_->geography(); }
  std::string where(std::int64_t index) const override { return x_->where(index); }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    x_->read(index, out.first(1));
    out[1][0] = static_cast<float>(labels_[index]);
  }
  void read_region(const Reading&, std::int64_t index, std::span<const Box> region,
                   std::span<const std::span<float>> out) const override {
    expects_request(index, region, out);
    x_->read_region({}, index, region.first(1), out.first(1));
    std::ranges::fill(out[1], static_cast<float>(labels_[index]));
  }
  bool reads_regions() const override { return x_->reads_regions(); }

 private:
  std::unique_ptr<Dataset> x_;
  std::vector<std::string> classes_;
  std::vector<int> labels_;
};

}  // namespace

std::unique_ptr<Dataset> join_datasets(std::unique_ptr<Dataset> x, std::unique_ptr<Dataset> y) {
  return std::make_unique<Join>(std::move(x), std::move(y));
}

std::unique_ptr<Dataset> label_by_folder(std::unique_ptr<Dataset> x, const std::vector<std::filesystem::path>& files) {
  return std::make_unique<FolderLabels>(std::move(x), files);
}

extern const DatasetRow joined;
const DatasetRow joined{"join", "x of one data set and y of another, of any formats",
                        [](Args& args, Survey& survey) -> std::unique_ptr<Dataset> {
                          const Spec x = args.spec("x"), y = args.spec("y");
                          args.finish();
                          return join_datasets(make_dataset(x, survey), make_dataset(y, survey));
                        }};

}  // namespace isobar::datasets
