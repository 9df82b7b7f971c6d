#include "isobar/hdf5/hdf5_outline.hpp"

#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "isobar/disk/durable_file.hpp"
#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/temporary_folder.hpp"

namespace isobar::hdf5 {
namespace {

std::span<const std::uint8_t> raw(const auto& list) {
  return {reinterpret_cast<const std::uint8_t*>(list.data()), list.size() * sizeof list[0]};
}

// The outline plus numbers written by hand make a file as the library itself would have made it.
TEST(Hdf5Outline, WithTheNumbersItIsAFileTheLibraryReads) {
  const tests::TemporaryFolder folder;
  std::vector<float> small{1, 2, 3, 4, 5, 6}, one{7}, large(100'000);
  std::iota(large.begin(), large.end(), 0.5f);
  const std::vector<double> doubles{0.1, -0.2};
  const std::string text = "a = 1\nb = 'ü'\n";
  const std::vector<OutlinedArray> arrays{{"weights/a", Shape{2, 3}},
                                          {"weights/b.c", Shape{}},
                                          {"slots/0/a", Shape{100, 1000}},
                                          {"numbers", Shape{2}, files::NumberType::float64},
                                          {"recipe", Shape{std::ssize(text)}, files::NumberType::uint8, true}};
  const std::vector<OutlinedAttribute> attributes{
      {"step", std::int64_t{120}}, {"rate", 0.25}, {"plan", std::string("abc")}};
  for (const std::int64_t user_block : {512, 4096, 65536}) {
    const Hdf5Outline outline = outline_hdf5(arrays, attributes, user_block);
    ASSERT_EQ(outline.offsets.size(), arrays.size());
    const auto path = folder.path() / "a.h5";
    disk::DurableFile file(path, outline.bytes);
    std::int64_t bytes = user_block;
    file.write_at(0, raw(std::string(static_cast<std::size_t>(user_block), '#')));
    for (const auto& piece : outline.pieces) file.write_at(piece.offset, piece.bytes), bytes += std::ssize(piece.bytes);
    const std::vector<std::span<const std::uint8_t>> contents{raw(small), raw(one), raw(large), raw(doubles),
                                                              raw(text)};
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      file.write_at(outline.offsets[i], contents[i]);
      bytes += arrays[i].bytes();
      EXPECT_EQ(arrays[i].bytes(), std::ssize(contents[i]));
    }
    file.commit();
    EXPECT_EQ(bytes, outline.bytes) << "every byte belongs to one thing";

    const Hdf5File in = Hdf5File::open(path);
    EXPECT_EQ(in.children("weights"), (std::vector<std::string>{"a", "b.c"}));
    EXPECT_EQ(in.shape("slots/0/a"), (Shape{100, 1000}));
    std::vector<float> small_back(6), one_back(1), large_back(large.size());
    std::vector<double> doubles_back(2);
    in.read<float>("weights/a", small_back);
    in.read<float>("weights/b.c", one_back);
    in.read<float>("slots/0/a", large_back);
    in.read<double>("numbers", doubles_back);
    EXPECT_EQ(small_back, small);
    EXPECT_EQ(one_back, one);
    EXPECT_EQ(large_back, large);
    EXPECT_EQ(doubles_back, doubles);
    EXPECT_EQ(in.type_name("recipe"), "text");
    EXPECT_EQ(in.integer("/", "step"), 120);
    EXPECT_EQ(in.real("/", "rate"), 0.25);
    EXPECT_EQ(in.text("/", "plan"), "abc");
  }
}

}  // namespace
}  // namespace isobar::hdf5
