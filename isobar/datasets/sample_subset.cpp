#include "isobar/datasets/sample_subset.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "isobar/base/error.hpp"
#include "isobar/base/random.hpp"

namespace isobar::datasets {
namespace {

constexpr std::uint64_t choice_stream = 0x7a;

using Numbers = std::vector<std::int64_t>;

class SampleSubset final : public Dataset {
 public:
  SampleSubset(std::shared_ptr<const Dataset> whole, Numbers samples)
      : whole_(std::move(whole)), samples_(std::make_shared<const Numbers>(std::move(samples))) {}

  std::int64_t size() const override { return std::ssize(*samples_); }
  std::vector<Field> fields() const override { return whole_->fields(); }
  std::vector<std::string> channels() const override { return whole_->channels(); }
  std::vector<std::string> classes() const override { return whole_->classes(); }
  std::string where(std::int64_t index) const override { return whole_->where(number(index)); }
  bool reads_regions() const override { return whole_->reads_regions(); }

  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    whole_->read(number(index), out);
  }
  void read_varied(const Reading& reading, std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    whole_->read_varied(reading, number(index), out);
  }
  void read_region(const Reading& reading, std::int64_t index, std::span<const Box> region,
                   std::span<const std::span<float>> out) const override {
    expects_request(index, region, out);
    whole_->read_region(reading, number(index), region, out);
  }

  // Of every file what is left of it; files without any of the samples are left out.
  std::vector<FileSpan> spans() const override {
    std::vector<FileSpan> left;
    for (const FileSpan& span : whole_->spans()) {
      const auto first = std::ranges::lower_bound(*samples_, span.first);
      const auto last = std::ranges::lower_bound(first, samples_->end(), span.first + span.count);
      if (first != last) left.push_back({span.file, first - samples_->begin(), last - first});
    }
    return left;
  }

  std::optional<Geography> geography() const override {
    std::optional<Geography> made = whole_->geography();
    if (made && made->time)
      made->time = [time = made->time, samples = samples_](std::int64_t sample) {
        return time((*samples)[static_cast<std::size_t>(sample)]);
      };
    return made;
  }

 private:
  std::int64_t number(std::int64_t index) const {
    expects(index >= 0 && index < size(), "the number of a sample");
    return (*samples_)[static_cast<std::size_t>(index)];
  }

  std::shared_ptr<const Dataset> whole_;
  std::shared_ptr<const Numbers> samples_;
};

}  // namespace

std::shared_ptr<const Dataset> sample_subset(std::shared_ptr<const Dataset> whole, std::vector<std::int64_t> samples) {
  expects(std::ranges::adjacent_find(samples, std::greater_equal()) == samples.end(), "ascending numbers of samples");
  expects(samples.empty() || (samples.front() >= 0 && samples.back() < whole->size()), "numbers of samples of the set");
  return std::make_shared<SampleSubset>(std::move(whole), std::move(samples));
}

ChosenSamples choose_samples(std::int64_t count, double share, std::uint64_t seed) {
  if (!(share > 0 && share < 1)) fail_usage("a share of {} of the samples: it must be above 0 and below 1", share);
  if (count < 2) fail_usage("a share of {} of {} samples: at least 2 samples are needed", share, count);
  const std::int64_t wanted = std::clamp<std::int64_t>(std::llround(share * static_cast<double>(count)), 1, count - 1);
  const Random random(seed, choice_stream);
  std::vector<std::pair<std::uint64_t, std::int64_t>> hashes;
  hashes.reserve(static_cast<std::size_t>(count));
  for (std::int64_t sample = 0; sample < count; ++sample) hashes.emplace_back(random.bits(sample), sample);
  std::ranges::nth_element(hashes, hashes.begin() + wanted);
  const auto numbers = [&](std::int64_t first, std::int64_t last) {
    Numbers list;
    list.reserve(static_cast<std::size_t>(last - first));
    for (std::int64_t i = first; i < last; ++i) list.push_back(hashes[static_cast<std::size_t>(i)].second);
    std::ranges::sort(list);
    return list;
  };
  return {numbers(0, wanted), numbers(wanted, count)};
}

}  // namespace isobar::datasets
