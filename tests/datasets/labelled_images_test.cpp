// idx, mnist, cifar10, cifar100: labelled images in one or a few files of bytes.
#include "isobar/datasets/idx_dataset.hpp"

#include "tests/datasets/samples.hpp"
#include "tests/files/made_files.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

Spec with_path(const std::string& name, const std::filesystem::path& path,
               std::vector<std::pair<std::string, Value>> more = {}) {
  more.emplace_back("path", path.string());
  return Spec(name, std::move(more));
}

TEST(Mnist, TheFourFilesOfAFolder) {
  const TemporaryFolder folder;
  write_gzip(folder / "train-images-idx3-ubyte.gz", idx_bytes({4, 2, 3}, [](std::size_t i) { return i; }));
  write_gzip(folder / "train-labels-idx1-ubyte.gz", idx_bytes({4}, [](std::size_t i) { return 9 - i; }));
  write_bytes(folder / "t10k-images.idx3-ubyte", idx_bytes({2, 2, 3}, [](std::size_t i) { return 100 + i; }));
  EXPECT_HAS(error_of([&] { make_dataset(with_path("mnist", folder.path(), {{"part", "test"}})); }), "t10k-labels");
  write_bytes(folder / "t10k-labels.idx1-ubyte", idx_bytes({2}, [](std::size_t i) { return i; }));

  const auto train = make_dataset(with_path("mnist", folder.path()));
  EXPECT_EQ(train->size(), 4);
  EXPECT_EQ(train->fields()[0].shape, (Shape{2, 3, 1}));
  EXPECT_EQ(train->fields()[1].shape, Shape{1});
  EXPECT_EQ(read_sample(*train, 3), (std::vector<std::vector<float>>{{18, 19, 20, 21, 22, 23}, {6}}));
  const auto test = make_dataset(with_path("mnist", folder.path(), {{"part", "test"}}));
  EXPECT_EQ(read_sample(*test, 1), (std::vector<std::vector<float>>{{106, 107, 108, 109, 110, 111}, {1}}));
  EXPECT_EQ(make_dataset(with_path("mnist", folder.path(), {{"samples", 3}}))->size(), 3);
  EXPECT_HAS(error_of([&] { make_dataset(with_path("mnist", folder.path(), {{"samples", 5}})); }), "there are 4");
}

TEST(Idx, LabelsMustBeAsManyAsImages) {
  const TemporaryFolder folder;
  write_bytes(folder / "i", idx_bytes({4, 6}, [](std::size_t i) { return i; }));
  write_bytes(folder / "l", idx_bytes({4, 2}, [](std::size_t i) { return i; }));
  write_bytes(folder / "few", idx_bytes({3}, [](std::size_t i) { return i; }));
  const auto open = [&](const char* labels) { return open_idx(folder / "i", folder / labels, 0, 1000); };
  const auto dataset = open("l");
  EXPECT_EQ(dataset->fields()[0].shape, Shape{6});
  EXPECT_EQ(read_sample(*dataset, 1)[1], (std::vector<float>{2, 3}));
  EXPECT_HAS(error_of([&] { open("few"); }), "holds 3 labels");
  EXPECT_HAS(error_of([&] { open_idx(folder / "few", folder / "few", 0, 1000); }), "sample axis");
}

TEST(Cifar10, PlanesBecomeChannels) {
  const TemporaryFolder folder;
  for (int b = 1; b <= 5; ++b) write_bytes(folder / fmt::format("data_batch_{}.bin", b), cifar_bytes(2, 1, 10, 20 * b));
  write_gzip(folder / "test_batch.bin.gz", cifar_bytes(3, 1, 10, 7));
  const auto train = make_dataset(with_path("cifar10", folder.path()));
  ASSERT_EQ(train->size(), 10);
  const auto sample = read_sample(*train, 3);  // the second of the second file
  EXPECT_EQ(sample[1][0], 1.0f);
  EXPECT_EQ(std::vector<float>(sample[0].begin(), sample[0].begin() + 6),
            (std::vector<float>{41, 81, 121, 41, 81, 121}));
  EXPECT_EQ(sample[0][33 * 3 + 2], 122.0f);  // row 1, column 1, blue
  EXPECT_EQ(train->where(3), (folder / "data_batch_2.bin").string() + " sample 1");
  const auto test = make_dataset(with_path("cifar10", folder.path(), {{"part", "test"}}));
  EXPECT_EQ(test->size(), 3);
  EXPECT_EQ(read_sample(*test, 2)[0][0], 9.0f);
  EXPECT_EQ(make_dataset(with_path("cifar10", folder / "data_batch_4.bin"))->size(), 2);
}

TEST(Cifar10, TheArchiveItComesIn) {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, FileBytes>> members{{"set/data_batch_2.bin", cifar_bytes(2, 1, 10, 20)},
                                                               {"set/readme.html", {1, 2, 3}},
                                                               {"set/data_batch_1.bin", cifar_bytes(1, 1, 10, 10)},
                                                               {"set/test_batch.bin", cifar_bytes(4, 1, 10, 10)}};
  write_archive(folder / "cifar.tar.gz", members, true);
  const auto train = make_dataset(with_path("cifar10", folder / "cifar.tar.gz"));
  ASSERT_EQ(train->size(), 3);
  EXPECT_EQ(read_sample(*train, 0)[0][0], 10.0f);
  EXPECT_EQ(read_sample(*train, 1)[0][0], 20.0f);
  EXPECT_EQ(make_dataset(with_path("cifar10", folder / "cifar.tar.gz", {{"part", "test"}}))->size(), 4);
}

TEST(Cifar10, DamagedFilesAreNamed) {
  const TemporaryFolder folder;
  FileBytes bytes = cifar_bytes(2, 1, 10, 0);
  bytes[3073] = 10;
  write_bytes(folder / "label.bin", bytes);
  const auto dataset = make_dataset(with_path("cifar10", folder / "label.bin"));
  EXPECT_HAS(error_of([&] { read_sample(*dataset, 1); }), "label 10 is no class");
  bytes.pop_back();
  write_bytes(folder / "short.bin", bytes);
  EXPECT_HAS(error_of([&] { make_dataset(with_path("cifar10", folder / "short.bin")); }), "short.bin: has 6145 bytes");
  EXPECT_HAS(error_of([&] { make_dataset(with_path("cifar10", folder.path())); }), "no data_batch_1.bin");
  EXPECT_HAS(error_of([&] { make_dataset("cifar10"); }), "path");
}

TEST(Cifar100, FineAndCoarseLabels) {
  const TemporaryFolder folder;
  write_bytes(folder / "train.bin", cifar_bytes(3, 2, 100, 5));
  const auto fine = make_dataset(with_path("cifar100", folder.path()));
  const auto coarse = make_dataset(with_path("cifar100", folder.path(), {{"label", "coarse"}}));
  ASSERT_EQ(fine->size(), 3);
  EXPECT_EQ(read_sample(*fine, 1)[1][0], 2.0f);
  EXPECT_EQ(read_sample(*coarse, 1)[1][0], 1.0f);
  EXPECT_EQ(read_sample(*fine, 1)[0], read_sample(*coarse, 1)[0]);
  EXPECT_EQ(read_sample(*fine, 1)[0][2], 86.0f);
}

}  // namespace
}  // namespace isobar::datasets
