#include "isobar/files/idx_file.hpp"

#include "tests/expect_error.hpp"
#include "tests/files/made_files.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::files {
namespace {

using namespace isobar::tests;

constexpr std::int64_t limit = 1 << 20;

std::vector<float> row(const IdxFile& file, std::int64_t index) {
  std::vector<float> out(static_cast<std::size_t>(file.shape().count(1, file.shape().rank())));
  file.read_row(index, out);
  return out;
}

TEST(IdxFile, BytesPlainAndCompressed) {
  const TemporaryFolder folder;
  const FileBytes bytes = idx_bytes({3, 2, 2}, [](std::size_t i) { return 250 - 20 * i; });
  write_bytes(folder / "plain", bytes);
  write_gzip(folder / "packed.gz", bytes);
  for (const char* name : {"plain", "packed.gz"}) {
    const IdxFile file(folder / name, limit);
    EXPECT_EQ(file.shape(), (Shape{3, 2, 2}));
    EXPECT_EQ(row(file, 0), (std::vector<float>{250, 230, 210, 190}));
    EXPECT_EQ(row(file, 2), (std::vector<float>{90, 70, 50, 30}));
    EXPECT_THROW(row(file, 3), std::logic_error);
  }
}

TEST(IdxFile, AllTypesOfNumber) {
  const TemporaryFolder folder;
  const auto read = [&](std::uint8_t type, const FileBytes& numbers, std::uint8_t count) {
    FileBytes bytes{0, 0, type, 1, 0, 0, 0, count};
    bytes.insert(bytes.end(), numbers.begin(), numbers.end());
    write_bytes(folder / "file", bytes);
    const IdxFile file(folder / "file", limit);
    return row(file, count - 1)[0];
  };
  EXPECT_EQ(read(0x09, {1, 0xFE}, 2), -2.0f);
  EXPECT_EQ(read(0x0B, {0, 0, 0xFF, 0x00}, 2), -256.0f);
  EXPECT_EQ(read(0x0C, {0, 1, 0, 2}, 1), 65538.0f);
  EXPECT_EQ(read(0x0D, {0xC0, 0x20, 0, 0}, 1), -2.5f);
  EXPECT_EQ(read(0x0E, {0x3F, 0xF8, 0, 0, 0, 0, 0, 0}, 1), 1.5f);
}

TEST(IdxFile, DamagedFilesAreNamed) {
  const TemporaryFolder folder;
  const auto message = [&](const FileBytes& bytes) {
    write_bytes(folder / "bad", bytes);
    return error_of([&] { IdxFile(folder / "bad", limit); });
  };
  const FileBytes good = idx_bytes({3, 2, 2}, [](std::size_t i) { return i; });
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_HAS(message(FileBytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length))), "bad");
  FileBytes longer = good;
  longer.push_back(0);
  EXPECT_HAS(message(longer), "the header says 3x2x2, but 13 bytes follow");
  FileBytes huge = good;
  for (std::size_t i = 4; i < 16; ++i) huge[i] = 0xFF;
  EXPECT_HAS(message(huge), "12 bytes follow");
  FileBytes rank = good;
  rank[3] = 200;
  EXPECT_HAS(message(rank), "rank 200");
  FileBytes type = good;
  type[2] = 7;
  EXPECT_HAS(message(type), "not an idx file");
  EXPECT_HAS(error_of([&] { IdxFile(folder / "absent", limit); }), "absent");
}

TEST(IdxFile, MoreThanTheLimitIsRefused) {
  const TemporaryFolder folder;
  write_gzip(folder / "zeros.gz", idx_bytes({1000, 1000}, [](std::size_t) { return 0; }));
  EXPECT_LT(std::filesystem::file_size(folder / "zeros.gz"), 10'000u);
  EXPECT_HAS(error_of([&] { IdxFile(folder / "zeros.gz", 100'000); }), "more than 100 kB");
  EXPECT_EQ(IdxFile(folder / "zeros.gz", 2'000'000).shape(), (Shape{1000, 1000}));
}

}  // namespace
}  // namespace isobar::files
