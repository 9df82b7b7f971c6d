// Predictions as NetCDF-4 following the CF conventions 1.8: maps over time, latitude and longitude as in the data set.
// Classes become one byte per place with flag_values and flag_meanings; each quantity becomes a variable.
#include <array>
#include <cctype>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/hdf5/netcdf_writer.hpp"
#include "isobar/writing/prediction_writer.hpp"

namespace isobar::writing {
namespace {

using files::NumberType;
using hdf5::NetcdfWriter;

constexpr int mask_deflate = 1;  // masks are nearly all background
constexpr std::size_t most_bytes_classes = 127, most_flags = 4096;

// Letters, digits and underscores: the characters allowed in names of variables and flag_meanings.
std::string identifier(const std::string& name) {
  std::string made;
  for (const char c : name) made += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return made.empty() || std::isdigit(static_cast<unsigned char>(made[0])) ? "_" + made : made;
}

class NetcdfPredictions final : public PredictionWriter {
 public:
  NetcdfPredictions(const std::filesystem::path& file, PredictionOutline given)
      : PredictionWriter(std::move(given)),
        maps_(outline().meaning != Meaning::classes),
        height_(outline().prediction[0]),
        width_(outline().prediction[1]),
        file_(file, hdf5::NetcdfKind::netcdf4) {
    file_.set_text(NetcdfWriter::file, "Conventions", "CF-1.8");
    for (const auto& [key, value] : outline().notes) file_.set_text(NetcdfWriter::file, key, value);
    places_ = outline().samples->geography();
    const Shape x = outline().samples->fields()[0].shape;
    if (places_ && (x.rank() < 2 || x[0] != height_ || x[1] != width_)) places_.reset();
    const bool timed = places_ && places_->time;
    over_[0] = file_.add_dimension(timed ? "time" : "sample", NetcdfWriter::unlimited);
    if (timed) time_ = add_axis(datasets::time_axis(*places_), over_[0], "T");
    datasets::GridAxis rows{.name = "y"}, columns{.name = "x"};
    if (places_) rows = places_->row, columns = places_->column;
    over_[1] = file_.add_dimension(rows.name, height_);
    over_[2] = file_.add_dimension(columns.name, width_);
    const int row_places = rows.places.empty() ? -1 : add_axis(rows, over_[1], "Y");
    const int column_places = columns.places.empty() ? -1 : add_axis(columns, over_[2], "X");
    number_ = file_.add_variable("sample_number", NumberType::int64, {&over_[0], 1});
    file_.set_text(number_, "long_name", "number of the sample in its data set");
    add_variables();
    write_places(row_places, rows.places);
    write_places(column_places, columns.places);
  }

 private:
  // One variable and the position of its planes in a row of numbers: every `step`-th number, from `offset` on.
  struct Map {
    int variable;
    std::size_t offset, step;
  };

  int add_axis(const datasets::GridAxis& axis, int dimension, const char* letter) {
    const int variable = file_.add_variable(axis.name, NumberType::float64, {&dimension, 1});
    bool said = false;
    for (const auto& [key, value] : axis.attributes) {
      if (!value.empty()) file_.set_text(variable, key, value);
      said = said || key == "axis";
    }
    if (!said) file_.set_text(variable, "axis", letter);
    return variable;
  }

  int add_map(const std::string& name, const std::string& meaning) {
    const int variable = file_.add_variable(name, NumberType::float32, over_);
    file_.set_text(variable, "long_name", meaning);
    const std::array<double, 1> fill{std::numeric_limits<double>::quiet_NaN()};
    file_.set_numbers(variable, "_FillValue", NumberType::float32, fill);
    return variable;
  }

  int add_mask(const std::string& name, const std::string& meaning) {
    const NumberType type = classes() <= most_bytes_classes ? NumberType::int8 : NumberType::int16;
    const int variable = file_.add_variable(name, type, over_, mask_deflate);
    file_.set_text(variable, "long_name", meaning);
    std::vector<double> values;
    std::vector<std::string> words;
    for (std::size_t c = 0; c < classes(); ++c) {
      values.push_back(static_cast<double>(c));
      words.push_back(c < outline().names.size() ? identifier(outline().names[c]) : fmt::format("class_{}", c));
    }
    file_.set_numbers(variable, "flag_values", type, values);
    file_.set_text(variable, "flag_meanings", join(words, " "));
    const std::array<double, 1> fill{-1};
    file_.set_numbers(variable, "_FillValue", type, fill);
    return variable;
  }

  void add_variables() {
    const std::size_t channels = channels_of(outline().prediction);
    const auto called = [&](const char* what, std::size_t c) {
      return channels == 1 ? std::string(what) : fmt::format("{}_{}", what, identifier(name_of(c)));
    };
    if (!maps_) {
      mask_ = add_mask("prediction", "predicted class");
      if (outline().target) target_mask_ = add_mask("target", "class in the data");
    } else {
      for (std::size_t c = 0; c < channels; ++c)
        predicted_.push_back({add_map(called("prediction", c), "predicted " + name_of(c)), c, channels});
      if (outline().target)
        for (std::size_t c = 0; c < channels; ++c)
          targets_.push_back({add_map(called("target", c), name_of(c) + " in the data"), c, channels});
    }
    if (!outline().probabilities) return;
    for (std::size_t c = 0; c < channels; ++c) {
      probable_.push_back({add_map(called("probability", c), "probability of " + name_of(c)), c, channels});
      file_.set_text(probable_.back().variable, "units", "1");
    }
  }

  static std::size_t channels_of(const Shape& shape) { return shape.rank() == 3 ? shape[2] : 1; }

  void write_places(int variable, std::span<const double> places) {
    if (variable >= 0)
      file_.write<double>(variable, std::array<std::int64_t, 1>{0}, std::array<std::int64_t, 1>{std::ssize(places)},
                          places);
  }

  void write_plane(const Map& map, std::int64_t sample, std::span<const float> row) {
    plane_.clear();
    for (std::size_t i = map.offset; i < row.size(); i += map.step) plane_.push_back(row[i]);
    file_.write<float>(map.variable, std::array<std::int64_t, 3>{sample, 0, 0},
                       std::array<std::int64_t, 3>{1, height_, width_}, plane_);
  }

  void write_mask(int variable, std::int64_t sample, std::span<const std::int32_t> row) {
    file_.write<std::int32_t>(variable, std::array<std::int64_t, 3>{sample, 0, 0},
                              std::array<std::int64_t, 3>{1, height_, width_}, row);
  }

  void write_rows(std::int64_t first, std::int64_t count, std::span<const float> predictions,
                  std::span<const float> targets) override {
    const std::size_t width = predictions.size() / count;
    const std::size_t target_width = targets.size() / count;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t sample = first + i, number = outline().first + sample;
      const std::array<std::int64_t, 1> from{sample}, one{1};
      file_.write<std::int64_t>(number_, from, one, {&number, 1});
      if (time_ >= 0) {
        const double time = places_->time(sample);
        file_.write<double>(time_, from, one, {&time, 1});
      }
      const auto row = predictions.subspan(i * width, width);
      const auto target = targets.subspan(i * target_width, target_width);
      if (mask_ >= 0) write_mask(mask_, sample, classes_of(row));
      for (const Map& map : predicted_) write_plane(map, sample, row);
      for (const Map& map : targets_) write_plane(map, sample, target);
      if (target_mask_ >= 0) write_mask(target_mask_, sample, target_classes(target));
      if (probable_.empty()) continue;
      const std::vector<float> made = probabilities_of(row);
      for (const Map& map : probable_) write_plane(map, sample, made);
    }
  }

  // Targets that are not a class, such as those that do not count, are missing.
  std::vector<std::int32_t> target_classes(std::span<const float> targets) const {
    std::vector<std::int32_t> found;
    found.reserve(targets.size());
    for (const float t : targets)
      found.push_back(t >= 0 && t < static_cast<float>(classes()) ? static_cast<std::int32_t>(t) : -1);
    return found;
  }

  void commit() override { file_.commit(); }

  bool maps_;
  std::int64_t height_, width_;
  NetcdfWriter file_;
  std::optional<datasets::Geography> places_;
  std::array<int, 3> over_{};
  int time_ = -1, number_ = -1, mask_ = -1, target_mask_ = -1;
  std::vector<Map> predicted_, targets_, probable_;
  std::vector<float> plane_;
};

}  // namespace

std::unique_ptr<PredictionWriter> netcdf_predictions(const std::filesystem::path& file, PredictionOutline outline) {
  const Shape& shape = outline.prediction;
  const bool classes = outline.meaning == Meaning::classes;
  if (classes ? shape.rank() != 3 : shape.rank() != 2 && shape.rank() != 3)
    fail_usage(
        "{}: a prediction is {}; NetCDF takes maps, [latitude, longitude] with classes or quantities behind; "
        "write it as .h5",
        file.string(), shape.str());
  if (shape.rank() == 3 && shape[2] > static_cast<std::int64_t>(most_flags))
    fail_usage("{}: {} classes or quantities a place are too many for NetCDF; write them as .h5", file.string(),
               shape[2]);
  // Targets of other shapes, such as one class for a whole map, do not fit a map.
  if (outline.target && outline.target->count() != (classes ? shape[0] * shape[1] : shape.count()))
    outline.target.reset();
  return std::make_unique<NetcdfPredictions>(file, std::move(outline));
}

}  // namespace isobar::writing
