// Regions of samples: of every data set of the catalogue the same numbers as in the whole sample, in any order and from
// any thread; and the view of a data set that has only a region.
#include "isobar/datasets/region_dataset.hpp"

#include <thread>

#include "tests/datasets/dataset_instances.hpp"
#include "tests/datasets/samples.hpp"
#include "tests/tensor/some_boxes.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

// Several regions of a sample; field f takes its boxes in another order than field f - 1.
std::vector<Region> region_choices(const Dataset& dataset) {
  const std::vector<Field> fields = dataset.fields();
  std::vector<Region> regions;
  for (std::size_t i = 0; i < 20; ++i) {
    Region region;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const std::vector<Box> boxes = some_boxes(fields[f].shape, f + 1);
      region.push_back(boxes[(i + 5 * f) % boxes.size()]);
    }
    regions.push_back(std::move(region));
  }
  regions.push_back(whole_region(fields));
  for (std::size_t f = 0; f < fields.size(); ++f) {
    regions.push_back(whole_region(fields));
    regions.back()[f] = Box::none(fields[f].shape);
  }
  return regions;
}

void expect_regions(const Dataset& dataset) {
  const std::vector<Region> regions = region_choices(dataset);
  std::vector<std::vector<std::vector<float>>> whole;
  for (std::int64_t i = 0; i < dataset.size(); ++i) whole.push_back(read_sample(dataset, i));
  for (std::size_t r = 0; r < regions.size(); ++r)
    for (std::size_t k = 0; k < 2; ++k) {
      const std::size_t i = (7 * r + 3 * k) % whole.size();
      ASSERT_EQ(read_region(dataset, static_cast<std::int64_t>(i), regions[r]), cut_out(dataset, whole[i], regions[r]))
          << "sample " << i << ", x " << regions[r][0].str();
    }
  std::vector<int> wrong(4, 0);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t)
      threads.emplace_back([&, t] {
        for (std::size_t k = 0; k < regions.size() / 2; ++k) {
          const std::size_t r = (k * 5 + t) % regions.size();
          const std::size_t i = (k + 3 * t) % whole.size();
          wrong[t] +=
              read_region(dataset, static_cast<std::int64_t>(i), regions[r]) != cut_out(dataset, whole[i], regions[r]);
        }
      });
  }
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(Regions, OfEveryDataSetAreThoseOfTheWholeSample) {
  for (const DatasetRow* row : datasets()) {
    const TemporaryFolder folder;
    for (const Spec& spec : dataset_instances(std::string(row->name), folder)) {
      SCOPED_TRACE(spec.str());
      expect_regions(*make_dataset(spec));
    }
  }
}

// x [9, 4, 5, 6] of int16 and y [9, 2, 4, 5], in every way that the data set can be told to read them.
TEST(Regions, OfHdf5FilesInEveryArrangement) {
  const TemporaryFolder folder;
  std::vector<std::int16_t> x(9 * 4 * 5 * 6);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int16_t>(i * 37 % 1001);
  std::vector<float> y(9 * 2 * 4 * 5);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i * 11 % 7);
  hdf5::Hdf5File file = hdf5::Hdf5File::create(folder / "all.h5");
  file.write<std::int16_t>("x", Shape{9, 4, 5, 6}, x);
  file.write<float>("y", Shape{9, 2, 4, 5}, y);
  for (const int gzip : {0, 4}) {
    file.make_array(fmt::format("x{}", gzip), Shape{9, 4, 5, 6}, {files::NumberType::int16, Shape{2, 3, 2, 6}, gzip});
    file.write_rows(fmt::format("x{}", gzip), 0,
                    {reinterpret_cast<const std::uint8_t*>(x.data()), x.size() * sizeof(std::int16_t)});
  }
  file.commit(false);
  const std::string path = (folder / "all.h5").string();
  for (const char* const name : {"x", "x0", "x4"})
    for (const std::string& rest : std::vector<std::string>{
             "", "plane=1", "log=true", "channels=[1, 2, 3]", "channels=[4, 0, 3]", "channels_first=true",
             "channels_first=true, channels=[3, 1]", "channels_first=true, channels=[1, 2], log=true",
             "sample_axis=false", "sample_axis=false, channels_first=true"}) {
      const std::string more = rest.empty() ? "" : ", " + rest;
      SCOPED_TRACE(name + more);
      const auto dataset = make_dataset(fmt::format("hdf5(path='{}', x={}, y=y{})", path, name, more));
      EXPECT_TRUE(dataset->reads_regions());
      expect_regions(*dataset);
    }
}

TEST(Regions, OfNetcdfFilesInEveryArrangement) {
  const TemporaryFolder folder;
  write_set("netcdf(type=int16, low=0, high=250, names=[A, B, C])", folder / "some.nc",
            numbered_samples(Shape{5, 6, 3}, 7));
  for (const char* const rest : {"", ", x=[C, A]", ", x=[B]", ", x=[A, B], y=C", ", missing=mean", ", every=2"}) {
    SCOPED_TRACE(rest);
    const auto dataset = make_dataset(fmt::format("netcdf(path='{}'{})", (folder / "some.nc").string(), rest));
    EXPECT_EQ(dataset->reads_regions(), rest != std::string(", missing=mean"));
    expect_regions(*dataset);
  }
}

TEST(Regions, AreDataSetsOfTheirOwn) {
  const std::shared_ptr<const Dataset> whole =
      make_dataset("atmosphere(height=16, width=24, count=3, channels=[PSL, TMQ, U850])");
  Region region = whole_region(whole->fields());
  region[0] = region[0].with(0, 4, 8).with(2, 1, 2);
  region[1] = region[1].with(0, 5, 6);
  const std::shared_ptr<const Dataset> part = region_of(whole, region);
  EXPECT_EQ(part->size(), 3);
  EXPECT_EQ(part->fields()[0].shape, (Shape{8, 24, 2}));
  EXPECT_EQ(part->fields()[0].name, "x");
  EXPECT_EQ(part->fields()[1].shape, (Shape{6, 24}));
  EXPECT_EQ(part->channels(), (std::vector<std::string>{"TMQ", "U850"}));
  EXPECT_EQ(part->classes(), whole->classes());
  EXPECT_EQ(part->where(2), whole->where(2));
  EXPECT_FALSE(part->reads_regions());
  EXPECT_EQ(read_sample(*part, 1), cut_out(*whole, read_sample(*whole, 1), region));
  expect_regions(*part);
  const std::vector<double> rows = whole->geography()->row.places;
  EXPECT_EQ(part->geography()->row.places, std::vector<double>(rows.begin() + 4, rows.begin() + 12));
  EXPECT_EQ(part->geography()->column.places, whole->geography()->column.places);
  EXPECT_EQ(region_of(whole, whole_region(whole->fields())), whole);
}

TEST(Regions, ThatAreNotThereAreErrors) {
  const std::shared_ptr<const Dataset> whole = make_dataset("noise(shape=[3, 5], targets=2, count=4)");
  Region region = whole_region(whole->fields());
  EXPECT_HAS(error_of([&] { region_of(whole, {region[0]}); }), "1 boxes for samples of 2 fields");
  region[0] = region[0].with(1, 3, 3);
  EXPECT_HAS(error_of([&] { region_of(whole, region); }), "field 'x' is 3x5 and has no part [0:3, 3:6]");
  EXPECT_THROW(read_region(*whole, 0, region), std::logic_error);
  region[0] = Box::none(Shape{3, 5});
  EXPECT_HAS(error_of([&] { region_of(whole, region); }), "has no part [0:0, 0:0]");
}

}  // namespace
}  // namespace isobar::datasets
