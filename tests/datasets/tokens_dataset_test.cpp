// tokens: windows over raw streams.
#include "isobar/datasets/format.hpp"

#include "tests/datasets/written.hpp"
#include "tests/files/made_files.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

using More = std::vector<std::pair<std::string, Value>>;

Spec tokens(const std::filesystem::path& path, More more) {
  more.emplace_back("path", path.string());
  return Spec("tokens", std::move(more));
}

// The numbers first, first + 1, ...
void write_tokens(const std::filesystem::path& path, int first, int count) {
  FileBytes bytes;
  for (int i = first; i < first + count; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i));
    bytes.push_back(static_cast<std::uint8_t>(i >> 8));
  }
  write_bytes(path, bytes);
}

TEST(Tokens, WindowsAndWhatFollows) {
  const TemporaryFolder folder;
  write_tokens(folder / "train.bin", 300, 10);
  const auto dataset = make_dataset(tokens(folder / "train.bin", {{"context", 3}}));
  ASSERT_EQ(dataset->size(), 3);  // the tenth token is only a target
  EXPECT_EQ(read_sample(*dataset, 0), (std::vector<std::vector<float>>{{300, 301, 302}, {301, 302, 303}}));
  EXPECT_EQ(read_sample(*dataset, 2), (std::vector<std::vector<float>>{{306, 307, 308}, {307, 308, 309}}));
  EXPECT_EQ(make_dataset(tokens(folder / "train.bin", {{"context", 9}}))->size(), 1);
  EXPECT_HAS(error_of([&] { make_dataset(tokens(folder / "train.bin", {{"context", 10}})); }), "the 11 tokens");
  const auto dense = make_dataset(tokens(folder / "train.bin", {{"context", 4}, {"stride", 1}}));
  EXPECT_EQ(dense->size(), 6);
  EXPECT_EQ(read_sample(*dense, 5)[1], (std::vector<float>{306, 307, 308, 309}));
  EXPECT_HAS(dense->where(5), "from token 5");
}

TEST(Tokens, SeveralFilesAndDamage) {
  const TemporaryFolder folder;
  write_tokens(folder / "set/a.bin", 0, 7);
  write_tokens(folder / "set/b.bin", 50, 2);
  write_tokens(folder / "set/c.bin", 100, 8);
  const auto dataset = make_dataset(tokens(folder / "set", {{"context", 3}, {"vocabulary", 106}}));
  ASSERT_EQ(dataset->size(), 4);
  EXPECT_EQ(read_sample(*dataset, 2)[0], (std::vector<float>{100, 101, 102}));
  EXPECT_HAS(error_of([&] { read_sample(*dataset, 3); }), "c.bin: number 6 is 106; valid tokens: 0 to 105");
  write_bytes(folder / "odd.bin", FileBytes(7));
  EXPECT_HAS(error_of([&] { make_dataset(tokens(folder / "odd.bin", {})); }), "a token has two");
}

TEST(Tokens, WrittenAndFoundAgain) {
  const TemporaryFolder folder;
  write_tokens(folder / "a.bin", 1000, 33);
  EXPECT_EQ(format_of(folder / "a.bin"), "tokens");
  const auto all = make_dataset(tokens(folder / "a.bin", {{"context", 8}}));
  write_set("tokens", folder / "b.bin", *all);
  EXPECT_EQ(std::filesystem::file_size(folder / "b.bin"), 66u);
  expect_same(*make_dataset(tokens(folder / "b.bin", {{"context", 8}})), *all);
  const Contents contents = look_into(glance_at(folder / "a.bin"));
  EXPECT_EQ(make_dataset(contents.readers.at(0))->size(), 1);
  EXPECT_HAS(error_of([&] { write_set("tokens", folder / "c.bin", Held({{"x", Shape{1}}}, {{{70'000}}})); }), "70000");
}

}  // namespace
}  // namespace isobar::datasets
