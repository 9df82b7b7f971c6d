// A data set with one sample changed, or all of them.
#pragma once

#include <functional>
#include <limits>

#include "isobar/train/job.hpp"

namespace isobar::train {

class SpoiltDataset final : public datasets::Dataset {
 public:
  using Spoil = std::function<void(std::int64_t index, std::span<const std::span<float>> fields)>;
  SpoiltDataset(std::shared_ptr<const datasets::Dataset> whole, Spoil spoil)
      : whole_(std::move(whole)), spoil_(std::move(spoil)) {}

  std::int64_t size() const override { return whole_->size(); }
  std::vector<datasets::Field> fields() const override { return whole_->fields(); }
  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    whole_->read(index, out);
    spoil_(index, out);
  }

 private:
  std::shared_ptr<const datasets::Dataset> whole_;
  Spoil spoil_;
};

inline void spoil(Job& job, SpoiltDataset::Spoil how) {
  job.source = std::make_shared<SpoiltDataset>(job.source, std::move(how));
  job.train_data = job.source;
}

/// Makes one number of field `field` of sample `sample` NaN.
inline void spoil_sample(Job& job, std::int64_t sample, std::size_t field = 0) {
  spoil(job, [=](std::int64_t index, auto fields) {
    if (index == sample) fields[field][1] = std::numeric_limits<float>::quiet_NaN();
  });
}

}  // namespace isobar::train
