#include "isobar/writing/prediction_writer.hpp"

#include <cmath>

#include "isobar/hdf5/hdf5_file.hpp"
#include "isobar/hdf5/netcdf_file.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::writing {
namespace {

using namespace isobar::tests;

constexpr std::int64_t height = 16, width = 24;

PredictionOutline masks(std::int64_t count) {
  PredictionOutline outline;
  outline.samples = datasets::make_dataset(
      fmt::format("atmosphere(height={}, width={}, count={}, hours=6, channels=[TMQ])", height, width, count));
  outline.prediction = Shape{height, width, 3};
  outline.target = Shape{height, width};
  outline.meaning = Meaning::classes;
  outline.names = {"background", "tropical cyclone", "river"};
  outline.squash = Squash::softmax;
  outline.notes = {{"title", "masks"}, {"history", "made by a test"}};
  return outline;
}

// Sample s is of class (s + place) % 3 everywhere, in truth always of class 1.
std::vector<float> scores(std::int64_t sample) {
  std::vector<float> made(static_cast<std::size_t>(height * width * 3), -1.0f);
  for (std::size_t p = 0; p < static_cast<std::size_t>(height * width); ++p)
    made[p * 3 + (static_cast<std::size_t>(sample) + p) % 3] = 2;
  return made;
}

void write_masks(const std::filesystem::path& file, PredictionOutline outline,
                 const std::vector<std::int64_t>& samples) {
  const auto writer = make_prediction_writer(file, std::move(outline));
  const std::vector<float> truth(static_cast<std::size_t>(height * width), 1.0f);
  for (const std::int64_t sample : samples) writer->write(std::span(&sample, 1), scores(sample), truth);
  EXPECT_FALSE(std::filesystem::exists(file)) << "it appears when it is complete";
  writer->finish();
}

std::string attribute(const hdf5::NetcdfFile& file, std::string_view key) {
  for (const hdf5::NetcdfAttribute& one : file.attributes())
    if (one.name == key) return one.text;
  return "";
}

TEST(PredictionWriter, MasksAreCfMapsWithTheGridOfTheData) {
  const TemporaryFolder folder;
  PredictionOutline outline = masks(3);
  outline.probabilities = true;
  outline.first = 10;
  const datasets::Geography places = *outline.samples->geography();
  write_masks(folder / "masks.nc", outline, {0, 1, 2});
  const hdf5::NetcdfFile file(folder / "masks.nc");
  EXPECT_EQ(attribute(file, "Conventions"), "CF-1.8");
  EXPECT_EQ(attribute(file, "title"), "masks");
  const hdf5::NetcdfVariable& mask = file.variable("prediction");
  EXPECT_EQ(mask.type, "byte");
  EXPECT_EQ(mask.shape, (Shape{3, height, width}));
  EXPECT_EQ(mask.text("flag_meanings"), "background tropical_cyclone river");
  EXPECT_EQ(mask.attribute("flag_values")->numbers, (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(mask.attribute("flag_values")->type, "byte") << "as the variable";
  const std::vector<double> classes = file.read_all(mask);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::size_t sample = i / static_cast<std::size_t>(height * width),
                      p = i % static_cast<std::size_t>(height * width);
    ASSERT_EQ(classes[i], static_cast<double>((sample + p) % 3)) << i;
  }
  for (const double one : file.read_all(file.variable("target"))) ASSERT_EQ(one, 1);
  EXPECT_EQ(file.read_all(file.variable("lat")), places.row.places);
  EXPECT_EQ(file.variable("lat").text("units"), "degrees_north");
  EXPECT_EQ(file.variable("lon").text("standard_name"), "longitude");
  EXPECT_EQ(file.read_all(file.variable("time")),
            (std::vector<double>{places.time(0), places.time(1), places.time(2)}));
  EXPECT_EQ(file.variable("time").text("calendar"), "noleap");
  EXPECT_EQ(file.variable("time").text("units"), places.time_units);
  EXPECT_EQ(file.read_all(file.variable("sample_number")), (std::vector<double>{10, 11, 12}));
  const double low = 1 / (2 + std::exp(3.0)), high = std::exp(3.0) / (2 + std::exp(3.0));
  const std::vector<double> rivers = file.read_all(file.variable("probability_river"));
  EXPECT_NEAR(rivers[0], low, 1e-6);
  EXPECT_NEAR(rivers[2], high, 1e-6);
  EXPECT_EQ(file.variable("probability_tropical_cyclone").text("units"), "1");
}

// Written predictions are a data set again, with its times and its grid.
TEST(PredictionWriter, MapsCanBeReadAsData) {
  const TemporaryFolder folder;
  write_masks(folder / "masks.nc", masks(2), {0, 1});
  const auto again = datasets::make_dataset(
      Spec("netcdf", {{"path", (folder / "masks.nc").string()}, {"x", "prediction"}, {"y", "target"}}));
  EXPECT_EQ(again->size(), 2);
  EXPECT_EQ(again->fields()[0].shape, (Shape{height, width, 1}));
  EXPECT_EQ(read_sample(*again, 1)[0][4], 2.0f);
  ASSERT_TRUE(again->geography());
  const datasets::Geography before = *masks(2).samples->geography(), after = *again->geography();
  EXPECT_EQ(after.row.places, before.row.places);
  EXPECT_EQ(after.column.name, "lon");
  EXPECT_EQ(after.calendar, "noleap");
  EXPECT_EQ(after.time(1) - after.time(0), 6);
}

TEST(PredictionWriter, SamplesLeftOutAreMissing) {
  const TemporaryFolder folder;
  write_masks(folder / "masks.nc", masks(4), {1});
  const hdf5::NetcdfFile maps(folder / "masks.nc");
  std::vector<float> stored(static_cast<std::size_t>(4 * height * width));
  maps.read_stored<float>(maps.variable("prediction"), std::vector<std::int64_t>{0, 0, 0},
                          std::vector<std::int64_t>{4, height, width}, stored);
  const auto plane = static_cast<std::size_t>(height * width);
  EXPECT_EQ(stored[0], -1);
  EXPECT_EQ(stored[plane], 1);
  EXPECT_EQ(stored[2 * plane], -1);
  EXPECT_EQ(stored[4 * plane - 1], -1);
  write_masks(folder / "masks.h5", masks(4), {1});
  const hdf5::Hdf5File file = hdf5::Hdf5File::open(folder / "masks.h5");
  std::vector<float> predictions(4 * plane * 3), targets(4 * plane);
  file.read<float>("prediction", predictions);
  file.read<float>("target", targets);
  EXPECT_TRUE(std::isnan(predictions[0]) && std::isnan(targets[0]) && std::isnan(predictions.back()));
  EXPECT_EQ(predictions[plane * 3 + 1], 2);
  std::vector<std::int32_t> classes(4 * plane);
  file.read<std::int32_t>("class", classes);
  EXPECT_EQ(classes[0], -1);
  EXPECT_EQ(classes[plane], 1);
}

TEST(PredictionWriter, NumbersHaveNamesAndOrigins) {
  const TemporaryFolder folder;
  PredictionOutline outline;
  outline.samples = datasets::make_dataset("noise(shape=[2], targets=2, count=3)");
  outline.prediction = outline.target.emplace(Shape{2});
  outline.names = {"omega_m", "sigma_8"};
  outline.first = 5;
  outline.notes = {{"model", "one"}};
  const auto writer = make_prediction_writer(folder / "numbers.h5", outline);
  writer->write(std::vector<std::int64_t>{0, 1}, std::vector<float>{1, 2, 3, 4}, std::vector<float>{0, 0, 9, 9});
  writer->write(std::vector<std::int64_t>{2}, std::vector<float>{5, 6}, std::vector<float>{7, 8});
  writer->finish();
  const hdf5::Hdf5File file = hdf5::Hdf5File::open(folder / "numbers.h5");
  EXPECT_EQ(file.children("/"), (std::vector<std::string>{"prediction", "sample", "target", "where"}));
  std::vector<float> numbers(6);
  file.read<float>("prediction", numbers);
  EXPECT_EQ(numbers, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  file.read<float>("target", numbers);
  EXPECT_EQ(numbers, (std::vector<float>{0, 0, 9, 9, 7, 8}));
  std::vector<std::int64_t> samples(3);
  file.read<std::int64_t>("sample", samples);
  EXPECT_EQ(samples, (std::vector<std::int64_t>{5, 6, 7}));
  EXPECT_EQ(file.text("prediction", "names"), "omega_m\nsigma_8");
  EXPECT_EQ(file.text("/", "model"), "one");
  EXPECT_EQ(file.type_name("where"), "text");
}

TEST(PredictionWriter, QuantitiesOfAPlaceAreVariablesOfTheirOwn) {
  const TemporaryFolder folder;
  PredictionOutline outline;
  outline.samples = datasets::make_dataset("noise(shape=[2, 3, 1], targets=[2, 3, 2], count=2)");
  outline.prediction = outline.target.emplace(Shape{2, 3, 2});
  outline.names = {"u wind", "2m temperature"};
  const auto writer = make_prediction_writer(folder / "maps.nc", outline);
  std::vector<float> row(12);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(i);
  for (const std::int64_t sample : {0, 1}) writer->write(std::span(&sample, 1), row, row);
  writer->finish();
  const hdf5::NetcdfFile file(folder / "maps.nc");
  EXPECT_EQ(file.read_all(file.variable("prediction_u_wind"))[7], 2);
  EXPECT_EQ(file.read_all(file.variable("target__2m_temperature"))[6], 1);
  EXPECT_EQ(file.find("lat"), nullptr) << "nobody knows where the grid is";
}

TEST(PredictionWriter, RefusesWhatItCannotWrite) {
  const TemporaryFolder folder;
  EXPECT_TRUE(contains(error_of([&] { make_prediction_writer(folder / "masks.csv", masks(1)); }), ".h5 (HDF5)"));
  PredictionOutline numbers;
  numbers.samples = datasets::make_dataset("noise(shape=[2], targets=4, count=3)");
  numbers.prediction = Shape{4};
  EXPECT_TRUE(contains(error_of([&] { make_prediction_writer(folder / "numbers.nc", numbers); }), "takes maps"));
  EXPECT_FALSE(std::filesystem::exists(folder / "numbers.nc"));
  { const auto unfinished = make_prediction_writer(folder / "masks.nc", masks(1)); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "what is not finished leaves nothing";
}

}  // namespace
}  // namespace isobar::writing
