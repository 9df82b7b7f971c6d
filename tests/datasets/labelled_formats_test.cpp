// idx, mnist, cifar10, cifar100 and images: written and read back, recognised, inspected.
#include "isobar/datasets/cifar_format.hpp"
#include "isobar/datasets/images_format.hpp"
#include "isobar/files/idx_file.hpp"

#include "tests/datasets/written.hpp"
#include "tests/files/made_files.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

// The data set that inspect suggests for a file or folder.
std::unique_ptr<Dataset> proposed(const std::filesystem::path& path) {
  const Contents contents = look_into(glance_at(path));
  EXPECT_FALSE(contents.readers.empty()) << contents.obstacle;
  EXPECT_FALSE(contents.summary.empty());
  EXPECT_FALSE(contents.parts.empty());
  return make_dataset(contents.readers.at(0));
}

TEST(IdxFormat, WrittenAndFoundAgain) {
  const TemporaryFolder folder;
  const Held samples = numbered_samples(Shape{5, 4, 1}, 7);
  write_set("idx", folder / "set.idx", samples);
  write_set("idx(type=float32, y_type=int16)", folder / "train-images-idx3-ubyte", samples);
  for (const char* name : {"set.idx", "train-images-idx3-ubyte"}) {
    EXPECT_EQ(format_of(folder / name), "idx");
    expect_same(*open_any(folder / name), samples);
    expect_same(*proposed(folder / name), samples);
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "set-labels.idx"));
  EXPECT_TRUE(std::filesystem::exists(folder / "train-labels-idx1-ubyte"));
  write_set("idx", folder / "cube", numbered_samples(Shape{2, 3, 2, 2}, 3, false));
  expect_same(*open_any(folder / "cube"), numbered_samples(Shape{2, 3, 2, 2}, 3, false));
  EXPECT_HAS(error_of([&] { write_set("idx(type=uint16)", folder / "no", samples); }), "one of uint8");
  EXPECT_HAS(error_of([&] { write_set("idx(type=int8)", folder / "no", samples); }), "sample 0: 'x'");
  EXPECT_FALSE(std::filesystem::exists(folder / "no"));
  EXPECT_FALSE(files::read_idx_header(FileBytes{0, 0, 8, 1, 0, 0}));
  EXPECT_HAS(error_of([&] { write_set("idx", folder / "set.idx", samples); }), "exists already");
}

TEST(MnistFormat, AFolderIsKnownByItsNames) {
  const TemporaryFolder folder;
  write_gzip(folder / "train-images-idx3-ubyte.gz", idx_bytes({4, 2, 3}, [](std::size_t i) { return i; }));
  write_gzip(folder / "train-labels-idx1-ubyte.gz", idx_bytes({4}, [](std::size_t i) { return 9 - i; }));
  EXPECT_EQ(format_of(folder.path()), "mnist");
  EXPECT_EQ(proposed(folder.path())->size(), 4);
  EXPECT_EQ(format_of(folder / "train-images-idx3-ubyte.gz"), "idx");
  EXPECT_EQ(read_sample(*proposed(folder / "train-images-idx3-ubyte.gz"), 1)[1][0], 8.0f);
}

TEST(CifarFormat, WrittenAndFoundAgain) {
  const TemporaryFolder folder;
  const Held samples = numbered_samples(Shape{32, 32, 3}, 5);
  write_set("cifar10", folder / "some.bin", samples);
  EXPECT_EQ(format_of(folder / "some.bin"), "cifar10");
  expect_same(*open_any(folder / "some.bin"), samples);
  expect_same(*proposed(folder / "some.bin"), samples);
  EXPECT_HAS(error_of([&] { write_set("cifar10", folder / "no", numbered_samples(Shape{4}, 2)); }), "32x32x3");
  write_bytes(folder / "hundred/train.bin", cifar_bytes(3, 2, 20, 5));
  EXPECT_EQ(format_of(folder / "hundred"), "cifar100");
  EXPECT_EQ(format_of(folder / "hundred/train.bin"), "cifar100");
  EXPECT_EQ(proposed(folder / "hundred")->size(), 3);
  for (int b = 1; b <= 5; ++b) write_bytes(folder / fmt::format("ten/data_batch_{}.bin", b), cifar_bytes(1, 1, 10, b));
  EXPECT_EQ(format_of(folder / "ten"), "cifar10");
  EXPECT_EQ(proposed(folder / "ten")->size(), 5);
  FileBytes wrong = cifar_bytes(2, 1, 10, 0);
  wrong[3073] = 10;
  write_bytes(folder / "wrong.bin", wrong);
  EXPECT_NE(format_of(folder / "wrong.bin"), "cifar10");
}

TEST(ImagesFormat, WrittenAndFoundAgain) {
  const TemporaryFolder folder;
  for (const std::int64_t channels : {1, 3}) {
    const Held samples = numbered_samples(Shape{5, 4, channels}, 7);
    for (const char* name : {"set", "set.tar", "set.tar.gz"}) {
      write_set("images", folder / name, samples);
      EXPECT_EQ(format_of(folder / name), "images");
      const auto read = make_dataset(Spec("images", {{"path", (folder / name).string()}, {"channels", channels}}));
      EXPECT_EQ(read->classes(), (std::vector<std::string>{"00000", "00001", "00002"}));
      ASSERT_EQ(read->size(), 7);
      // By class: 0, 3, 6, 1, 4, 2, 5.
      const std::int64_t order[] = {0, 3, 6, 1, 4, 2, 5};
      for (std::int64_t i = 0; i < 7; ++i) EXPECT_EQ(read_sample(*read, i), read_sample(samples, order[i])) << i;
      EXPECT_EQ(proposed(folder / name)->size(), 7);
      std::filesystem::remove_all(folder / name);
    }
  }
  EXPECT_HAS(error_of([&] { write_set("images", folder / "no", numbered_samples(Shape{5, 4, 2}, 2)); }), "1 or 3");
}

TEST(ImagesFormat, NamesOfClasses) {
  const TemporaryFolder folder;
  const Held::Samples two{{std::vector<float>(6, 1.0f), {1}}, {std::vector<float>(6, 2.0f), {0}}};
  const std::vector<Field> fields{{"x", Shape{2, 3}}, {"y", Shape{1}}};
  write_set("images", folder / "named", Held(fields, two, {"cat", "dog"}));
  EXPECT_EQ(open_any(folder / "named")->classes(), (std::vector<std::string>{"cat", "dog"}));
  write_set("images", folder / "unsorted", Held(fields, two, {"dog", "cat"}));
  EXPECT_EQ(open_any(folder / "unsorted")->classes(), (std::vector<std::string>{"00000", "00001"}));
  write_bytes(folder / "flat/a.png", png_bytes(2, 3, 1, FileBytes(6, 9)));
  EXPECT_EQ(proposed(folder / "flat")->fields().size(), 1u);
}

}  // namespace
}  // namespace isobar::datasets
