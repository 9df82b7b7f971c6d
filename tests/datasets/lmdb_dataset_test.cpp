// lmdb: pictures in Caffe's form, as planes, as floats and encoded.
#include "isobar/files/lmdb_file.hpp"
#include "isobar/files/wire.hpp"

#include "tests/datasets/written.hpp"
#include "tests/files/made_files.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

Spec lmdb(const std::filesystem::path& path, std::vector<std::pair<std::string, Value>> more = {}) {
  more.emplace_back("path", path.string());
  return Spec("lmdb", std::move(more));
}

TEST(Lmdb, WrittenAndFoundAgain) {
  const TemporaryFolder folder;
  for (const Shape& shape : {Shape{4, 5, 3}, Shape{40, 50, 2}}) {
    const Held samples = numbered_samples(shape, 7);
    for (const char* format : {"lmdb", "lmdb(type=float32)"}) {
      write_set(format, folder / "base", samples);
      EXPECT_EQ(format_of(folder / "base"), "lmdb");
      EXPECT_EQ(format_of(folder / "base/data.mdb"), "lmdb");
      expect_same(*open_any(folder / "base"), samples);
      expect_same(*make_dataset(look_into(glance_at(folder / "base")).readers.at(0)), samples);
      std::filesystem::remove_all(folder / "base");
    }
  }
  write_set("lmdb", folder / "bare", numbered_samples(Shape{4, 5, 3}, 3, false));
  expect_same(*make_dataset(lmdb(folder / "bare", {{"y", ""}})), numbered_samples(Shape{4, 5, 3}, 3, false));
  EXPECT_HAS(error_of([&] {
               write_set("lmdb", folder / "deep", numbered_samples(Shape{2, 2, 2, 1}, 2));
             }),
             "a Datum holds [height, width, channels]");
  EXPECT_HAS(error_of([&] {
               write_set("lmdb", folder / "half", Held({{"x", Shape{1}}}, {{{0.5f}}}));
             }),
             "sample 0: 'x'");
}

TEST(Lmdb, EncodedPicturesAreDecoded) {
  const TemporaryFolder folder;
  files::LmdbWriter writer(folder / "base", 1 << 20);
  for (int i = 0; i < 3; ++i) {
    files::WireWriter datum;
    datum.bytes(4, png_bytes(4, 3 + i / 2, 3, flat_pixels(4, 3 + i / 2, {10 * i, 20, 30})));
    datum.varint(5, static_cast<std::uint64_t>(i));
    datum.varint(7, 1);
    writer.write(std::to_string(i), datum.message());
  }
  writer.commit();
  const auto dataset = make_dataset(lmdb(folder / "base"));
  EXPECT_EQ(dataset->fields()[0].shape, (Shape{4, 3, 3}));
  EXPECT_EQ(read_sample(*dataset, 1)[0][0], 10.0f);
  EXPECT_EQ(read_sample(*dataset, 1)[1][0], 1.0f);
  EXPECT_HAS(error_of([&] { read_sample(*dataset, 2); }), "4 x 4 pixels");
  const auto resized = make_dataset(lmdb(folder / "base", {{"size", std::vector<Value>{2, 2}}, {"channels", 1}}));
  EXPECT_EQ(resized->fields()[0].shape, (Shape{2, 2, 1}));
  EXPECT_EQ(read_sample(*resized, 2)[1][0], 2.0f);
}

TEST(Lmdb, OtherValuesAreRefused) {
  const TemporaryFolder folder;
  files::LmdbWriter writer(folder / "base", 1 << 20);
  writer.write("0", FileBytes{'a'});
  writer.commit();
  EXPECT_HAS(error_of([&] { make_dataset(lmdb(folder / "base")); }),
             "entry 0: holds 1 bytes that are not a Datum of Caffe");
  const Contents contents = look_into(glance_at(folder / "base"));
  EXPECT_TRUE(contents.readers.empty());
  EXPECT_HAS(contents.obstacle, "not Caffe Datums");
}

}  // namespace
}  // namespace isobar::datasets
