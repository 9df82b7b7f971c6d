#include "isobar/datasets/sample_range.hpp"

#include "isobar/base/error.hpp"

namespace isobar::datasets {
namespace {

class SampleRange final : public Dataset {
 public:
  SampleRange(std::shared_ptr<const Dataset> whole, std::int64_t first, std::int64_t count)
      : whole_(std::move(whole)), first_(first), count_(count) {}

  std::int64_t size() const override { return count_; }
  std::vector<Field> fields() const override { return whole_->fields(); }
  std::vector<std::string> channels() const override { return whole_->channels(); }
  std::vector<std::string> classes() const override { return whole_->classes(); }
  std::string where(std::int64_t index) const override { return whole_->where(first_ + index); }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    whole_->read(first_ + index, out);
  }
  void read_varied(const Reading& reading, std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    whole_->read_varied(reading, first_ + index, out);
  }

  std::optional<Geography> geography() const override {
    std::optional<Geography> made = whole_->geography();
    if (made && made->time)
      made->time = [time = made->time, first = first_](std::int64_t sample) { return time(first + sample); };
    return made;
  }

 private:
  std::shared_ptr<const Dataset> whole_;
  std::int64_t first_, count_;
};

}  // namespace

std::shared_ptr<const Dataset> sample_range(std::shared_ptr<const Dataset> whole, std::int64_t first,
                                            std::int64_t last) {
  if (first < 0 || first >= last || last > whole->size())
    fail_usage("samples {}:{}: the data set has the samples 0:{}", first, last, whole->size());
  return std::make_shared<SampleRange>(std::move(whole), first, last - first);
}

}  // namespace isobar::datasets
