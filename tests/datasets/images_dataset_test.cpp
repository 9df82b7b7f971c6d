#include "isobar/files/image.hpp"

#include "tests/datasets/samples.hpp"
#include "tests/files/made_files.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

using Members = std::vector<std::pair<std::string, FileBytes>>;

Spec images(const std::filesystem::path& path, std::vector<std::pair<std::string, Value>> more = {}) {
  more.emplace_back("path", path.string());
  return Spec("images", std::move(more));
}

// Two parts, two classes; the colour identifies the file.
Members tree() {
  return {{"train/dog/1.png", png_bytes(2, 3, 3, flat_pixels(2, 3, {200, 10, 0}))},
          {"train/cat/2.jpg", jpeg_bytes(2, 3, 3, flat_pixels(2, 3, {120, 120, 120}))},
          {"train/cat/10.JPEG", jpeg_bytes(2, 3, 1, flat_pixels(2, 3, {60}))},
          {"train/cat/notes.txt", {1, 2, 3}},
          {"test/cat/1.png", png_bytes(2, 3, 1, flat_pixels(2, 3, {9}))},
          {"test/dog/1.png", png_bytes(2, 3, 4, flat_pixels(2, 3, {255, 0, 0, 0}))}};
}

void write_tree(const std::filesystem::path& folder, const Members& members) {
  for (const auto& [name, content] : members) write_bytes(folder / name, content);
}

TEST(Images, AFolderAndItsArchiveAreTheSameSet) {
  const TemporaryFolder folder;
  write_tree(folder / "set", tree());
  write_archive(folder / "set.tar.gz", tree(), true);
  write_archive(folder / "set.tar", tree(), false);
  for (const char* path : {"set", "set.tar.gz", "set.tar"}) {
    SCOPED_TRACE(path);
    const auto train = make_dataset(images(folder / path, {{"part", "train"}}));
    ASSERT_EQ(train->size(), 3);
    EXPECT_EQ(train->fields()[0].shape, (Shape{2, 3, 3}));
    EXPECT_EQ(train->classes(), (std::vector<std::string>{"cat", "dog"}));
    EXPECT_HAS(train->where(2), "train/dog/1.png");
    const auto grey = read_sample(*train, 0), jpeg = read_sample(*train, 1), png = read_sample(*train, 2);
    EXPECT_EQ(grey[0], std::vector<float>(18, 60.0f));  // 10.JPEG comes before 2.jpg
    for (const float value : jpeg[0]) EXPECT_NEAR(value, 120, 2);
    EXPECT_EQ((std::vector<float>{png[0].begin(), png[0].begin() + 6}), (std::vector<float>{200, 10, 0, 200, 10, 0}));
    EXPECT_EQ(grey[1][0], 0.0f);
    EXPECT_EQ(png[1][0], 1.0f);
    const auto test = make_dataset(images(folder / path, {{"part", "test"}, {"channels", 1}}));
    EXPECT_EQ(test->fields()[0].shape, (Shape{2, 3, 1}));
    EXPECT_EQ(read_sample(*test, 0)[0], std::vector<float>(6, 9.0f));
    EXPECT_EQ(read_sample(*test, 1)[0], std::vector<float>(6, 0.0f));  // transparent
    EXPECT_EQ(make_dataset(images(folder / path))->size(), 5);
    const auto one = make_dataset(images(folder / path, {{"part", "train"}, {"samples", 1}}));
    EXPECT_EQ(one->size(), 1);
    EXPECT_EQ(one->classes().size(), 2u);
  }
}

TEST(Images, OtherSizesAreResizedOrRefused) {
  const TemporaryFolder folder;
  Members members = tree();
  members.emplace_back("train/dog/2.png", png_bytes(4, 6, 3, flat_pixels(4, 6, {7, 8, 9})));
  write_archive(folder / "set.tar", members, false);
  const auto strict = make_dataset(images(folder / "set.tar", {{"part", "train"}}));
  EXPECT_HAS(error_of([&] { read_sample(*strict, 3); }), "4 x 6 pixels, the first one has 2 x 3");
  const auto fitted = make_dataset(images(folder / "set.tar", {{"part", "train"}, {"size", std::vector<Value>{5, 4}}}));
  EXPECT_EQ(fitted->fields()[0].shape, (Shape{5, 4, 3}));
  const std::vector<float> resized = read_sample(*fitted, 3)[0];
  for (std::size_t i = 0; i < resized.size(); ++i) EXPECT_NEAR(resized[i], 7.0 + static_cast<double>(i % 3), 1e-4);
  EXPECT_EQ(make_dataset(images(folder / "set.tar", {{"size", 8}}))->fields()[0].shape, (Shape{8, 8, 3}));
}

TEST(FitImage, HalvesAndDoubles) {
  const files::Image image{.height = 1, .width = 4, .channels = 1, .pixels = {0, 40, 80, 120}};
  std::vector<float> half(2), twice(8);
  files::fit_image(image, 1, 2, half);
  // Weights 1, 3, 3, 1 over four pixels, one of which is beyond the edge.
  EXPECT_NEAR(half[0], (3 * 0 + 3 * 40 + 80) / 7.0, 1e-4);
  EXPECT_NEAR(half[1], (40 + 3 * 80 + 3 * 120) / 7.0, 1e-4);
  files::fit_image(image, 1, 8, twice);
  const double wanted[] = {0, 10, 30, 50, 70, 90, 110, 120};
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(twice[i], wanted[i], 1e-4) << i;
  const files::Image tall{.height = 4, .width = 1, .channels = 1, .pixels = {0, 40, 80, 120}};
  std::vector<float> low(2);
  files::fit_image(tall, 2, 1, low);
  EXPECT_EQ(low, half);
}

TEST(DecodeImage, EveryTruncationIsAnError) {
  FileBytes pixels;
  for (int i = 0; i < 16 * 16 * 3; ++i) pixels.push_back(static_cast<std::uint8_t>(i * 37));
  files::Image image;
  for (const FileBytes& file : {jpeg_bytes(16, 16, 3, pixels), png_bytes(16, 16, 3, pixels)}) {
    files::decode_image(file, {}, image);
    EXPECT_EQ(image.pixels.size(), pixels.size());
    // A PNG picture is complete before its last chunk; everything shorter must be refused.
    for (std::size_t length = 0; length + 20 < file.size(); length += 3)
      error_of([&] { files::decode_image(std::span(file).first(length), {}, image); });
  }
}

TEST(DecodeImage, BitFlipsGiveAnImageOrAnError) {
  FileBytes pixels;
  for (int i = 0; i < 16 * 16 * 3; ++i) pixels.push_back(static_cast<std::uint8_t>(i * 37));
  files::Image image;
  for (const FileBytes& file : {jpeg_bytes(16, 16, 3, pixels), png_bytes(16, 16, 3, pixels)}) {
    for (std::size_t bit = 0; bit < 8 * file.size(); bit += 5) {
      FileBytes flipped = file;
      flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
      try {
        files::decode_image(flipped, {.height = 16, .width = 16}, image);
        EXPECT_EQ(image.pixels.size(), pixels.size());
      } catch (const Error&) {
      }
    }
  }
}

TEST(DecodeImage, SizesAreCheckedBeforeMemoryIsTaken) {
  FileBytes file = jpeg_bytes(16, 16, 3, FileBytes(16 * 16 * 3, 5));
  for (std::size_t i = 0; i + 9 < file.size(); ++i) {
    if (file[i] != 0xFF || file[i + 1] != 0xC0) continue;
    for (std::size_t k = 5; k < 9; ++k) file[i + k] = 0xF0;  // 61680 x 61680
    break;
  }
  files::Image image;
  EXPECT_HAS(error_of([&] { files::decode_image(file, {}, image); }), "61680 x 61680");
  EXPECT_TRUE(image.pixels.empty());
}

TEST(Images, WhatCannotBeReadIsNamed) {
  const TemporaryFolder folder;
  const auto message = [&](const Members& members, std::vector<std::pair<std::string, Value>> more = {}) {
    write_archive(folder / "set.tar", members, false);
    return error_of([&] {
      const auto dataset = make_dataset(images(folder / "set.tar", more));
      read_sample(*dataset, dataset->size() - 1);
    });
  };
  EXPECT_HAS(message({{"a/1.png", {1, 2, 3}}}), "a/1.png: is neither a JPEG nor a PNG file");
  EXPECT_HAS(message({{"a/1.txt", {1, 2, 3}}}), "holds no .jpg");
  EXPECT_HAS(message({{"1.png", {1, 2, 3}}}), "'1.png' is in no folder that names its class");
  EXPECT_HAS(message({{"train/1.png", {1}}}, {{"part", "train"}}), "expected: train/CLASS/FILE");
  EXPECT_HAS(message(tree(), {{"part", "valid"}}), "below 'valid'");
  EXPECT_HAS(message(tree(), {{"samples", 99}}), "there are 5");
  EXPECT_HAS(message(tree(), {{"channels", 2}}), "channels = 1");
  EXPECT_HAS(message({{"a/1.png", FileBytes(5000)}}, {{"max_gigabytes", 1e-6}}), "more than 1.00 kB");
  EXPECT_HAS(error_of([&] { make_dataset(images(folder / "absent")); }), "no such folder or archive");
  write_bytes(folder / "file.bin", FileBytes(2000, 7));
  EXPECT_HAS(error_of([&] { make_dataset(images(folder / "file.bin")); }), "neither a folder nor a tar or zip archive");
  write_archive(folder / "whole.tar.gz", tree(), true);
  std::filesystem::resize_file(folder / "whole.tar.gz", std::filesystem::file_size(folder / "whole.tar.gz") - 60);
  EXPECT_HAS(error_of([&] { make_dataset(images(folder / "whole.tar.gz")); }), "whole.tar.gz");
}

}  // namespace
}  // namespace isobar::datasets
