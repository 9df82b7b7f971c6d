// Regions of transformed samples: for every transform of the catalogue, alone and in lists, exactly what the whole
// transformed sample has there, however it was varied; and no more read than needed.
#include <set>

#include "isobar/datasets/region_dataset.hpp"
#include "isobar/transforms/pipeline.hpp"

#include "tests/datasets/written.hpp"
#include "tests/tensor/some_boxes.hpp"
#include "tests/transforms/transform_instances.hpp"

namespace isobar::transforms {
namespace {

using datasets::Region;

// x of one shape and y of another, small whole numbers; remembers what was asked of it.
class RegionSource final : public datasets::Dataset {
 public:
  explicit RegionSource(Shape x, Shape y = {1}) : fields_{{"x", std::move(x)}, {"y", std::move(y)}} {}

  std::int64_t size() const override { return 5; }
  std::vector<datasets::Field> fields() const override { return fields_; }
  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    for (std::size_t f = 0; f < 2; ++f)
      for (std::size_t i = 0; i < out[f].size(); ++i)
        out[f][i] =
            static_cast<float>((static_cast<std::size_t>(31 * index) + (7 + f) * i * i + 1) % (f == 0 ? 59 : 3));
  }
  void read_region(const datasets::Reading& reading, std::int64_t index, std::span<const Box> region,
                   std::span<const std::span<float>> out) const override {
    asked.assign(region.begin(), region.end());
    Dataset::read_region(reading, index, region, out);
  }

  mutable Region asked;

 private:
  std::vector<datasets::Field> fields_;
};

std::shared_ptr<Pipeline> list_of(std::vector<std::string> specs) { return std::make_shared<Pipeline>(specs); }

std::vector<std::vector<float>> read_as(const datasets::Dataset& set, const datasets::Reading& how,
                                        std::int64_t index) {
  std::vector<std::vector<float>> fields;
  for (const datasets::Field& field : set.fields())
    fields.emplace_back(static_cast<std::size_t>(field.shape.count()), -7.0f);
  set.read_varied(how, index, std::vector<std::span<float>>(fields.begin(), fields.end()));
  return fields;
}

// A region of every sample, in training and not, in several epochs.
void expect_regions(const std::shared_ptr<const RegionSource>& source, const std::shared_ptr<Pipeline>& list) {
  const Transformed set(source, list);
  const std::vector<datasets::Field> fields = set.fields();
  const std::vector<Box> x = tests::some_boxes(fields[0].shape), y = tests::some_boxes(fields[1].shape, 2);
  for (std::size_t r = 0; r < std::max(x.size(), y.size()) + 2; ++r) {
    Region region{x[r % x.size()], y[(r + r / y.size()) % y.size()]};
    if (r >= std::max(x.size(), y.size())) region[r % 2] = Box::none(fields[r % 2].shape);
    const Region reach = set.reach(region);
    for (std::int64_t epoch = 0; epoch < 6; ++epoch) {
      const datasets::Reading how{11, epoch, epoch > 0};
      const std::int64_t index = static_cast<std::int64_t>(r) % set.size();
      ASSERT_EQ(tests::read_region(set, index, region, how), tests::cut_out(set, read_as(set, how, index), region))
          << "epoch " << epoch << ", x " << region[0].str() << ", y " << region[1].str();
      for (std::size_t f = 0; f < 2; ++f) {
        const Box& asked = source->asked[f];
        EXPECT_TRUE(reach[f].contains(asked)) << "more was read than can be reached";
      }
    }
  }
}

TEST(TransformRegions, AreThoseOfTheWholeForEveryTransform) {
  const TemporaryFolder folder;
  for (const Row<Transform>* row : transforms()) {
    const Spec spec = transform_instance(row->name, folder);
    SCOPED_TRACE(spec.str());
    const auto list = list_of({spec.str()});
    expect_regions(std::make_shared<RegionSource>(Shape{4, 5, 3}), list);
    if (made(spec)->field() == "x") expect_regions(std::make_shared<RegionSource>(Shape{4, 5, 3}, Shape{4, 5}), list);
    else expect_regions(std::make_shared<RegionSource>(Shape{2}, Shape{4, 5}), list);
  }
}

TEST(TransformRegions, AreThoseOfTheWholeForOtherSettings) {
  for (const char* const spec :
       {"crop(size=[3, 3])", "crop(size=2, random=false)", "crop(size=[5, 5])", "mirror(axes=[0])",
        "mirror(axes=[0, -1])", "rotate", "rotate(reflections=true)", "rotate(by=180, reflections=true)",
        "resize(size=[9, 3])", "resize(size=[5, 2])", "resize(size=4, method=nearest)", "standardize(mean=2)",
        "select_channels(channels=[1])", "one_hot(classes=59, field=x)", "one_hot(classes=3)",
        "class_map(map=[2, 0, 1])"}) {
    SCOPED_TRACE(spec);
    expect_regions(std::make_shared<RegionSource>(Shape{5, 5, 2}, Shape{5, 5}), list_of({spec}));
  }
  for (const char* const spec : {"crop(size=[3, 2, 3])", "mirror(axes=[0, 1, 2])", "rotate", "rotate(reflections=true)",
                                 "resize(size=[2, 5, 6])", "divide_by_mean", "subtract_mean(values=[3, 4])"}) {
    SCOPED_TRACE(spec);
    expect_regions(std::make_shared<RegionSource>(Shape{4, 4, 4, 2}, Shape{4, 4, 4, 1}), list_of({spec}));
  }
}

TEST(TransformRegions, AreThoseOfTheWholeInLists) {
  const std::vector<std::vector<std::string>> lists{
      {},
      {"scale(by=2)", "standardize(mean=1)", "log1p"},
      {"crop(size=[4, 5, 4])", "mirror(axes=[0, 1])", "scale(by=0.5)", "crop(size=[3, 3, 3])", "rotate"},
      {"mirror(axes=[0])", "divide_by_mean", "mirror(axes=[0, 1])", "one_hot(classes=3)"},
      {"resize(size=[3, 5, 7])", "mirror(axes=[2])", "select_channels(channels=[1, 0, 1])", "swap_channels"},
      {"divide_by_mean", "resize(size=4)", "rotate(reflections=true)", "divide_by_mean"}};
  for (const std::vector<std::string>& specs : lists) {
    const std::string last = specs.empty() ? "no transforms" : specs.back();
    SCOPED_TRACE(last);
    const Shape x = last == "log1p" ? Shape{5, 6, 4, 1} : Shape{5, 6, 4, 2};
    expect_regions(std::make_shared<RegionSource>(x, Shape{5, 6, 4}), list_of(specs));
  }
}

TEST(TransformRegions, WhatWasLearnedIsOfWholeSamples) {
  const TemporaryFolder folder;
  const auto list = list_of({"scale(by=0.25)", "subtract_mean", "mirror(axes=[0])"});
  const auto source = std::make_shared<RegionSource>(Shape{6, 5, 2});
  list->learn(*source, folder / "learned.h5", 2);
  expect_regions(source, list);
}

TEST(TransformRegions, OnlyWhatIsNeededIsRead) {
  const auto source = std::make_shared<RegionSource>(Shape{8, 8, 2}, Shape{8, 8});
  const auto asked = [&](std::vector<std::string> specs, const Box& box, std::int64_t epoch = 0) {
    const Transformed set(source, list_of(std::move(specs)));
    tests::read_region(set, 3, {box, Box::whole(set.fields()[1].shape).with(0, 0, 1)}, {1, epoch, true});
    return source->asked;
  };
  const Box slab{{2, 0, 0}, Shape{3, 8, 2}};
  EXPECT_EQ(asked({"scale(by=2)", "standardize(mean=[1, 2])"}, slab), (Region{slab, {{0, 0}, Shape{1, 8}}}));
  EXPECT_EQ(asked({"divide_by_mean"}, slab)[0], Box::whole(Shape{8, 8, 2}));
  EXPECT_EQ(asked({"crop(size=4, random=false)"}, {{1, 0, 0}, Shape{2, 4, 2}}),
            (Region{{{3, 2, 0}, Shape{2, 4, 2}}, {{2, 2}, Shape{1, 4}}}));
  // Half of the epochs have rows exchanged: then the other end of every field is read.
  std::set<std::int64_t> first;
  for (std::int64_t epoch = 0; epoch < 12; ++epoch) {
    const Region region = asked({"mirror(axes=[0])"}, slab, epoch);
    EXPECT_EQ(region[0].shape, slab.shape);
    EXPECT_EQ(region[1].begin[0], region[0].begin[0] == 2 ? 0 : 7);
    first.insert(region[0].begin[0]);
  }
  EXPECT_EQ(first, (std::set<std::int64_t>{2, 3}));
  // Whatever is drawn.
  const Transformed mirrored(source, list_of({"mirror(axes=[0])"}));
  EXPECT_EQ(mirrored.reach(Region{slab, Box::none(Shape{8, 8})})[0], (Box{{2, 0, 0}, Shape{4, 8, 2}}));
  const Transformed sideways(source, list_of({"mirror", "scale(by=2)"}));
  EXPECT_EQ(sideways.reach(Region{slab, Box::none(Shape{8, 8})})[0], slab);
}

TEST(TransformRegions, AreSeenByAViewAroundTheTransforms) {
  const auto source = std::make_shared<RegionSource>(Shape{6, 6, 2}, Shape{6, 6});
  const auto set = std::make_shared<const Transformed>(source, list_of({"rotate", "crop(size=[4, 4])"}));
  const Region region{Box::whole(Shape{4, 4, 2}).with(0, 1, 2), Box::whole(Shape{4, 4}).with(0, 1, 3)};
  const auto view = datasets::region_of(set, region);
  EXPECT_EQ(view->fields()[0].shape, (Shape{2, 4, 2}));
  for (std::int64_t epoch = 0; epoch < 5; ++epoch) {
    const datasets::Reading how{5, epoch, true};
    EXPECT_EQ(read_as(*view, how, 4), tests::cut_out(*set, read_as(*set, how, 4), region));
  }
}

}  // namespace
}  // namespace isobar::transforms
