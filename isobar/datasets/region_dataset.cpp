#include "isobar/datasets/region_dataset.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::datasets {
namespace {

class RegionDataset final : public Dataset {
 public:
  RegionDataset(std::shared_ptr<const Dataset> whole, Region region)
      : whole_(std::move(whole)), region_(std::move(region)) {
    for (const Field& field : whole_->fields()) fields_.push_back({field.name, region_[fields_.size()].shape});
  }

  std::int64_t size() const override { return whole_->size(); }
  std::vector<Field> fields() const override { return fields_; }
  void read(std::int64_t index, std::span<const std::span<float>> out) const override { read_varied({}, index, out); }
  void read_varied(const Reading& reading, std::int64_t index, std::span<const std::span<float>> out) const override {
    whole_->read_region(reading, index, region_, out);
  }
  void read_region(const Reading& reading, std::int64_t index, std::span<const Box> region,
                   std::span<const std::span<float>> out) const override {
    expects_request(index, region, out);
    Region moved(region.begin(), region.end());
    for (std::size_t f = 0; f < moved.size(); ++f)
      for (std::size_t a = 0; a < moved[f].begin.size(); ++a) moved[f].begin[a] += region_[f].begin[a];
    whole_->read_region(reading, index, moved, out);
  }
  bool reads_regions() const override { return whole_->reads_regions(); }

  std::vector<std::string> channels() const override {
    std::vector<std::string> names = whole_->channels();
    if (names.empty()) return names;
    const auto first = names.begin() + region_[0].begin.back();
    return {first, first + region_[0].shape[-1]};
  }
  std::vector<std::string> classes() const override { return whole_->classes(); }
  std::string where(std::int64_t index) const override { return whole_->where(index); }
  std::vector<FileSpan> spans() const override { return whole_->spans(); }
  std::shared_ptr<Fetching> foresee(const Course& course) const override { return whole_->foresee(course); }

  std::optional<Geography> geography() const override {
    std::optional<Geography> found = whole_->geography();
    if (!found) return found;
    for (const int axis : {0, 1}) {
      std::vector<double>& places = (axis == 0 ? found->row : found->column).places;
      if (places.empty()) continue;
      const auto first = places.begin() + region_[0].begin[axis];
      places = std::vector<double>(first, first + region_[0].shape[axis]);
    }
    return found;
  }

 private:
  std::shared_ptr<const Dataset> whole_;
  Region region_;
  std::vector<Field> fields_;
};

}  // namespace

std::shared_ptr<const Dataset> region_of(std::shared_ptr<const Dataset> whole, Region region) {
  const std::vector<Field> fields = whole->fields();
  if (region.size() != fields.size())
    fail("a region of {} boxes for samples of {} fields", region.size(), fields.size());
  bool all = true;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    if (!region[f].is_inside(fields[f].shape) || region[f].count() == 0)
      fail("field '{}' is {} and has no part {}", fields[f].name, fields[f].shape.str(), region[f].str());
    all = all && region[f].is_whole(fields[f].shape);
  }
  if (all) return whole;
  return std::make_shared<RegionDataset>(std::move(whole), std::move(region));
}

}  // namespace isobar::datasets
