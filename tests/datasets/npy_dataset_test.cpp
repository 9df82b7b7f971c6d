// npy: arrays with a sample axis, archives, folders of samples, labels from other files.
#include "isobar/datasets/npy_format.hpp"
#include "isobar/files/npy_file.hpp"

#include "tests/datasets/written.hpp"
#include "tests/files/made_files.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

using More = std::vector<std::pair<std::string, Value>>;

Spec npy(const std::filesystem::path& path, More more = {}) {
  more.emplace_back("path", path.string());
  return Spec("npy", std::move(more));
}

void write_array(const std::filesystem::path& path, const Shape& shape, std::uint8_t first) {
  FileBytes bytes = files::npy_header(files::NumberType::uint8, shape);
  for (std::int64_t i = 0; i < shape.count(); ++i) bytes.push_back(static_cast<std::uint8_t>(first + i));
  write_bytes(path, bytes);
}

TEST(Npy, AFileOfSamples) {
  const TemporaryFolder folder;
  write_array(folder / "x.npy", Shape{4, 3, 2}, 0);
  write_array(folder / "y.npy", Shape{4}, 50);
  write_array(folder / "few.npy", Shape{3}, 50);
  const auto bare = make_dataset(npy(folder / "x.npy"));
  ASSERT_EQ(bare->fields().size(), 1u);
  EXPECT_EQ(bare->size(), 4);
  EXPECT_EQ(bare->fields()[0].shape, (Shape{3, 2}));
  EXPECT_EQ(read_sample(*bare, 1), (std::vector<std::vector<float>>{{6, 7, 8, 9, 10, 11}}));
  const auto both = make_dataset(npy(folder / "x.npy", {{"labels", (folder / "y.npy").string()}, {"samples", 3}}));
  EXPECT_EQ(both->size(), 3);
  EXPECT_EQ(both->fields()[1].shape, Shape{1});
  EXPECT_EQ(read_sample(*both, 2)[1], std::vector<float>{52});
  const auto message = [&](More more) { return error_of([&] { make_dataset(npy(folder / "x.npy", more)); }); };
  EXPECT_HAS(message({{"labels", (folder / "few.npy").string()}}), "x has 4 samples");
  EXPECT_HAS(message({{"samples", 5}}), "there are 4");
  EXPECT_HAS(message({{"labels", "folder"}}), "one sample a file");
  write_array(folder / "none.npy", Shape{0, 3}, 0);
  EXPECT_HAS(error_of([&] { make_dataset(npy(folder / "none.npy")); }), "[0, 3]");
}

TEST(Npy, AFolderOfSamples) {
  const TemporaryFolder folder;
  write_array(folder / "set/b/1.npy", Shape{2, 2}, 10);
  write_array(folder / "set/a/2.npy", Shape{2, 2}, 20);
  write_array(folder / "set/a/3.npy", Shape{2, 2}, 30);
  const auto named = make_dataset(npy(folder / "set", {{"labels", "folder"}}));
  EXPECT_EQ(named->classes(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read_sample(*named, 2), (std::vector<std::vector<float>>{{10, 11, 12, 13}, {1}}));
  EXPECT_EQ(named->spans().size(), 3u);
  EXPECT_EQ(look_into(glance_at(folder / "set")).readers.at(0), npy(folder / "set", {{"labels", "folder"}}));
  write_array(folder / "labels.npy", Shape{3, 2}, 0);
  const auto joined = make_dataset(npy(folder / "set", {{"labels", (folder / "labels.npy").string()}}));
  EXPECT_EQ(read_sample(*joined, 1), (std::vector<std::vector<float>>{{30, 31, 32, 33}, {2, 3}}));
  EXPECT_EQ(make_dataset(npy(folder / "set/a/*.npy"))->size(), 2);
  write_array(folder / "set/c/4.npy", Shape{4}, 0);
  const auto odd = make_dataset(npy(folder / "set"));
  EXPECT_HAS(error_of([&] { read_sample(*odd, 3); }), "x is [4], but [2, 2] in the first file, 2.npy");
}

TEST(Npy, WrittenAndFoundAgain) {
  const TemporaryFolder folder;
  const Held samples = numbered_samples(Shape{2, 3, 1}, 5);
  write_set("npy(type=uint8, y_type=int64)", folder / "both.npz", samples);
  EXPECT_EQ(format_of(folder / "both.npz"), "npy");
  expect_same(*open_any(folder / "both.npz"), samples);
  std::filesystem::copy(folder / "both.npz", folder / "any name");
  expect_same(*open_any(folder / "any name"), samples);
  const Contents contents = look_into(glance_at(folder / "both.npz"));
  ASSERT_EQ(contents.parts.size(), 2u);
  EXPECT_EQ(contents.parts[0].shape, "[5, 2, 3, 1]");
  EXPECT_EQ(contents.parts[1].type, "int64");
  expect_same(*make_dataset(contents.readers.at(0)), samples);
  write_set("npy(type=float16)", folder / "x.npy", samples);
  EXPECT_EQ(format_of(folder / "x.npy"), "npy");
  expect_same(*make_dataset(look_into(glance_at(folder / "x.npy")).readers.at(0)), samples);
  EXPECT_HAS(error_of([&] { write_set("npy(type=int8)", folder / "bad.npz", samples); }), "sample 3: 'x'");
  int left = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++left;
  EXPECT_EQ(left, 4);  // both.npz, any name, x.npy, x_y.npy
  std::filesystem::create_directory(folder / "set");
  for (int i = 0; i < 3; ++i) write_set("npy", folder / fmt::format("set/{}.npz", i), numbered_samples(Shape{2}, 4));
  const auto files = make_dataset(npy(folder / "set"));
  EXPECT_EQ(files->fields()[0].shape, (Shape{4, 2}));
  EXPECT_EQ(files->fields()[1].shape, Shape{4});
  EXPECT_EQ(read_sample(*files, 2)[1], (std::vector<float>{0, 1, 2, 0}));
}

}  // namespace
}  // namespace isobar::datasets
