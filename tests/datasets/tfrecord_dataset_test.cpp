// tfrecord: features as numbers, as bytes and as pictures; counting, layouts, labels from other files, refusals.
#include "isobar/datasets/tfrecord_format.hpp"
#include "isobar/files/tf_example.hpp"
#include "isobar/files/tfrecord_file.hpp"

#include "tests/datasets/written.hpp"
#include "tests/files/made_files.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

using More = std::vector<std::pair<std::string, Value>>;

Spec tfrecord(const std::filesystem::path& path, More more = {}) {
  more.emplace_back("path", path.string());
  return Spec("tfrecord", std::move(more));
}

// Records with the floats x = {i, i + 1}, the integer y = i and the bytes b = int16 {i, -i}.
void write_records(const std::filesystem::path& path, int first, int count, bool gzip = false) {
  std::filesystem::create_directories(path.parent_path());
  files::TfrecordWriter file(path, gzip);
  for (int i = first; i < first + count; ++i) {
    files::ExampleWriter example;
    const float x[] = {static_cast<float>(i), static_cast<float>(i + 1)};
    const std::int64_t y[] = {i};
    std::vector<std::uint8_t> b(4);
    files::from_floats(files::NumberType::int16, std::vector<float>{x[0], -x[0]}, b);
    example.floats("x", x);
    example.integers("y", y);
    example.bytes("b", b);
    file.write(example.finish());
  }
  file.commit();
}

TEST(Tfrecord, ListsAndBytes) {
  const TemporaryFolder folder;
  write_records(folder / "some.tfrecord", 5, 3);
  const auto lists = make_dataset(tfrecord(folder / "some.tfrecord"));
  ASSERT_EQ(lists->size(), 3);
  EXPECT_EQ(lists->fields()[0].shape, Shape{2});
  EXPECT_EQ(read_sample(*lists, 2), (std::vector<std::vector<float>>{{7, 8}, {7}}));
  EXPECT_EQ(lists->where(2), (folder / "some.tfrecord").string() + " record 2");
  const More wish{{"x", "b"}, {"type", "int16"}, {"shape", std::vector<Value>{2, 1}}, {"y", ""}};
  const auto bytes = make_dataset(tfrecord(folder / "some.tfrecord", wish));
  ASSERT_EQ(bytes->fields().size(), 1u);
  EXPECT_EQ(bytes->fields()[0].shape, (Shape{2, 1}));
  EXPECT_EQ(read_sample(*bytes, 1), (std::vector<std::vector<float>>{{6, -6}}));
}

TEST(Tfrecord, UnevenFilesAreCountedExactly) {
  const TemporaryFolder folder;
  for (const bool gzip : {false, true}) {
    const std::string set = gzip ? "gz" : "plain";
    write_records(folder / (set + "/a.tfrecord"), 0, 3, gzip);
    write_records(folder / (set + "/b.tfrecord"), 3, 3, gzip);
    write_records(folder / (set + "/c.tfrecord"), 6, 2, gzip);
    for (const int per_file : {0, 3}) {
      const auto dataset = make_dataset(tfrecord(folder / set, {{"per_file", per_file}}));
      ASSERT_EQ(dataset->size(), 8);
      for (const std::int64_t i : {7, 0, 5, 3}) EXPECT_EQ(read_sample(*dataset, i)[1][0], static_cast<float>(i));
      ASSERT_EQ(dataset->spans().size(), 3u);
      EXPECT_EQ(dataset->spans()[2].first, 6);
      EXPECT_EQ(dataset->spans()[2].count, 2);
    }
    write_records(folder / (set + "/b.tfrecord"), 3, 1, gzip);
    EXPECT_EQ(make_dataset(tfrecord(folder / set))->size(), 6);
    const auto trusting = make_dataset(tfrecord(folder / set, {{"per_file", 3}}));
    EXPECT_EQ(read_sample(*trusting, 1)[1][0], 1.0f);
    EXPECT_HAS(error_of([&] { read_sample(*trusting, 3); }), "b.tfrecord: holds 1 records, 3 were expected");
  }
  EXPECT_EQ(make_dataset(tfrecord(folder / "plain/[ac].tfrecord", {{"samples", 4}}))->spans()[1].count, 1);
}

TEST(Tfrecord, LabelsFromElsewhere) {
  const TemporaryFolder folder;
  for (const char* name : {"set/dog/1.tfrecord", "set/cat/1.tfrecord", "set/dog/2.tfrecord"})
    write_records(folder / name, 7, 1);
  const auto named = make_dataset(tfrecord(folder / "set", {{"labels", "folder"}}));
  EXPECT_EQ(named->classes(), (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(read_sample(*named, 0), (std::vector<std::vector<float>>{{7, 8}, {0}}));
  EXPECT_EQ(read_sample(*named, 2)[1][0], 1.0f);
  write_records(folder / "labels.tfrecord", 40, 3);
  const auto joined = make_dataset(tfrecord(folder / "set", {{"labels", (folder / "labels.tfrecord").string()}}));
  EXPECT_EQ(read_sample(*joined, 2), (std::vector<std::vector<float>>{{7, 8}, {42}}));
  write_records(folder / "few.tfrecord", 40, 2);
  EXPECT_HAS(error_of([&] {
               make_dataset(tfrecord(folder / "set", {{"labels", (folder / "few.tfrecord").string()}}));
             }),
             "x has 3 samples");
  EXPECT_HAS(error_of([&] {
               make_dataset(tfrecord(folder / "labels.tfrecord", {{"labels", "folder"}}));
             }),
             "one sample a file");
}

TEST(Tfrecord, Pictures) {
  const TemporaryFolder folder;
  files::TfrecordWriter file(folder / "pictures", false);
  for (int i = 0; i < 3; ++i) {
    files::ExampleWriter example;
    const std::int64_t label[] = {i};
    example.bytes("image/encoded", png_bytes(4 + i / 2, 3, 3, flat_pixels(4 + i / 2, 3, {i, 50, 90})));
    example.integers("image/class/label", label);
    file.write(example.finish());
  }
  file.commit();
  const Contents contents = look_into(glance_at(folder / "pictures"));
  ASSERT_EQ(contents.readers.size(), 1u) << contents.obstacle;
  const auto dataset = make_dataset(contents.readers[0]);
  EXPECT_EQ(dataset->fields()[0].shape, (Shape{4, 3, 3}));
  EXPECT_EQ(read_sample(*dataset, 1)[0][0], 1.0f);
  EXPECT_EQ(read_sample(*dataset, 1)[1][0], 1.0f);
  EXPECT_HAS(error_of([&] { read_sample(*dataset, 2); }), "5 x 3 pixels, the first one has 4 x 3");
}

TEST(Tfrecord, TheLayoutsOfCosmoflow) {
  const TemporaryFolder folder;
  const Shape small{2, 2, 2, 4};
  write_set("tfrecord(gzip=true, per_file=1, type=int16)", folder / "train", numbered_samples(small, 4));
  const std::vector<Value> shape{2, 2, 2, 4};
  const auto dataset = make_dataset(tfrecord(folder / "train", {{"layout", "cosmoflow"}, {"shape", shape}}));
  expect_same(*dataset, numbered_samples(small, 4));
  EXPECT_HAS(error_of([&] {
               read_sample(*make_dataset(tfrecord(folder / "train", {{"layout", "cosmoflow"}})), 0);
             }),
             "feature 'x' holds 64 bytes");
  files::TfrecordWriter file(folder / "sc18", false);
  files::ExampleWriter example;
  std::vector<std::uint8_t> data(32), label(12);
  files::from_floats(files::NumberType::float32, std::vector<float>(8, 2.5f), data);
  files::from_floats(files::NumberType::float32, std::vector<float>{0.3f, 0.8f, 0.9f}, label);
  example.bytes("data_raw", data);
  example.bytes("label_raw", label);
  file.write(example.finish());
  file.commit();
  const auto old = make_dataset(
      tfrecord(folder / "sc18", {{"layout", "cosmoflow_sc18"}, {"shape", std::vector<Value>{2, 2, 2, 1}}}));
  EXPECT_EQ(read_sample(*old, 0), (std::vector<std::vector<float>>{std::vector<float>(8, 2.5f), {0.3f, 0.8f, 0.9f}}));
}

TEST(Tfrecord, WrittenAndFoundAgain) {
  const TemporaryFolder folder;
  const Held samples = numbered_samples(Shape{2, 3, 1}, 5), bare = numbered_samples(Shape{6}, 5, false);
  write_set("tfrecord", folder / "a", samples);
  write_set("tfrecord(gzip=true, type=uint8, y_type=int64)", folder / "b", samples);
  write_set("tfrecord(per_file=2)", folder / "c", samples);
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(format_of(folder / name), "tfrecord");
    expect_same(*open_any(folder / name), samples);
    const Contents contents = look_into(glance_at(folder / name));
    ASSERT_EQ(contents.readers.size(), 1u) << contents.obstacle;
    expect_same(*make_dataset(contents.readers[0]), samples);
  }
  write_set("tfrecord", folder / "d", bare);
  expect_same(*make_dataset(look_into(glance_at(folder / "d")).readers.at(0)), bare);
  EXPECT_HAS(error_of([&] { write_set("tfrecord(type=int8)", folder / "e", samples); }),
             "sample 3: 'x' cannot be stored as int8: ");
  EXPECT_FALSE(std::filesystem::exists(folder / "e"));
  EXPECT_HAS(error_of([&] { write_set("tfrecord", folder / "a", samples); }), "exists already");
}

TEST(Tfrecord, WhatCannotBeReadIsNamed) {
  const TemporaryFolder folder;
  write_records(folder / "some", 0, 2);
  const auto message = [&](More more) { return error_of([&] { make_dataset(tfrecord(folder / "some", more)); }); };
  EXPECT_HAS(message({{"x", "z"}}),
             "some record 0: has no feature 'z' with values; it has: x (float), y (int64), b (bytes)");
  EXPECT_HAS(message({{"x", "b"}}), "type (as int16) and shape");
  EXPECT_HAS(message({{"x", "b"}, {"type", "int16"}}), "shape = [...]");
  EXPECT_HAS(message({{"x", "b"}, {"type", "int17"}}), "int16");
  EXPECT_HAS(message({{"image", true}}), "not an image");
  EXPECT_HAS(message({{"samples", 3}}), "there are 2");
  EXPECT_HAS(message({{"shape", std::vector<Value>{0}}}), "shape");
  EXPECT_HAS(message({{"shape", std::vector<Value>{1'000'000, 1000}}}),
             "holds 2 numbers, but a sample of 1000000x1000");
  write_bytes(folder / "other", FileBytes(100, 3));
  EXPECT_HAS(error_of([&] { make_dataset(tfrecord(folder / "other")); }), "other: is not a TFRecord file");
  const std::vector<std::uint8_t> text{'h', 'i'};
  files::TfrecordWriter file(folder / "texts", false);
  file.write(text);
  file.commit();
  EXPECT_HAS(look_into(glance_at(folder / "texts")).obstacle, "the first record");
}

}  // namespace
}  // namespace isobar::datasets
