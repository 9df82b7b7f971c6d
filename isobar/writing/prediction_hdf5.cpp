// Predictions as HDF5: prediction [samples, ...] as the network gives them, class and probability for scores, target if
// known, the number of each sample and where it came from. Names are attributes, one per line.
#include <algorithm>
#include <cstring>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/hdf5/hdf5_file.hpp"
#include "isobar/writing/prediction_writer.hpp"

namespace isobar::writing {
namespace {

constexpr std::size_t longest_origin = 1024;
constexpr std::size_t most_origins_looked_at = 1'000'000;

template <class T>
std::span<const std::uint8_t> as_bytes(std::span<const T> numbers) {
  return {reinterpret_cast<const std::uint8_t*>(numbers.data()), numbers.size_bytes()};
}

Shape with_samples(std::int64_t count, const Shape& sample, int axes) {
  std::vector<std::int64_t> extents{count};
  extents.insert(extents.end(), sample.extents().begin(), sample.extents().begin() + axes);
  return Shape(std::move(extents));
}

// The end of a long path says more than its beginning.
std::string shortened(const std::string& text) {
  return text.size() <= longest_origin ? text : text.substr(text.size() - longest_origin);
}

class Hdf5Predictions final : public PredictionWriter {
 public:
  Hdf5Predictions(const std::filesystem::path& file, PredictionOutline given)
      : PredictionWriter(std::move(given)), file_(hdf5::Hdf5File::create(file)) {
    const PredictionOutline& about = outline();
    const std::int64_t count = about.samples->size();
    const int rank = about.prediction.rank();
    const std::string names = join(about.names, "\n");
    file_.make_array("prediction", with_samples(count, about.prediction, rank), {});
    if (!names.empty()) file_.set_text("prediction", "names", names);
    if (about.meaning == Meaning::classes) {
      file_.make_array("class", with_samples(count, about.prediction, rank - 1), {.type = files::NumberType::int32});
      file_.set_text("class", "missing", "-1");
      if (!names.empty()) file_.set_text("class", "names", names);
    }
    if (about.probabilities) {
      file_.make_array("probability", with_samples(count, about.prediction, rank), {});
      if (!names.empty()) file_.set_text("probability", "names", names);
    }
    if (about.target) {
      file_.make_array("target", with_samples(count, *about.target, about.target->rank()), {});
      if (!names.empty()) file_.set_text("target", "names", names);
    }
    file_.make_array("sample", Shape{count}, {.type = files::NumberType::int64});
    for (std::int64_t i = 0; i < std::min<std::int64_t>(count, most_origins_looked_at); ++i)
      origin_length_ = std::max(origin_length_, shortened(about.samples->where(i)).size());
    file_.make_texts("where", count, origin_length_);
    for (const auto& [key, value] : about.notes) file_.set_text("/", key, value);
  }

 private:
  void write_rows(std::int64_t first, std::int64_t count, std::span<const float> predictions,
                  std::span<const float> targets) override {
    const PredictionOutline& about = outline();
    file_.write_rows("prediction", first, as_bytes(predictions));
    if (about.meaning == Meaning::classes) {
      const std::vector<std::int32_t> found = classes_of(predictions);
      file_.write_rows("class", first, as_bytes<std::int32_t>(found));
    }
    if (about.probabilities) {
      const std::vector<float> made = probabilities_of(predictions);
      file_.write_rows("probability", first, as_bytes<float>(made));
    }
    if (about.target) file_.write_rows("target", first, as_bytes(targets));
    std::vector<std::int64_t> numbers;
    std::vector<std::uint8_t> origins(count * origin_length_);
    for (std::int64_t i = 0; i < count; ++i) {
      numbers.push_back(about.first + first + i);
      const std::string text = shortened(about.samples->where(first + i));
      std::memcpy(origins.data() + i * origin_length_, text.data(), std::min(text.size(), origin_length_));
    }
    file_.write_rows("sample", first, as_bytes<std::int64_t>(numbers));
    file_.write_rows("where", first, origins);
  }

  void commit() override { file_.commit(); }

  hdf5::Hdf5File file_;
  std::size_t origin_length_ = 1;
};

}  // namespace

std::unique_ptr<PredictionWriter> hdf5_predictions(const std::filesystem::path& file, PredictionOutline outline) {
  return std::make_unique<Hdf5Predictions>(file, std::move(outline));
}

}  // namespace isobar::writing
