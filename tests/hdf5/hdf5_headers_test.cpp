#include "isobar/hdf5/hdf5_headers.hpp"

#include <fstream>
#include <iterator>

#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/expect_error.hpp"
#include "tests/hdf5/made_hdf5.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::hdf5 {
namespace {

using namespace isobar::tests;

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// More attributes than fit into a header: the rest is in continuations.
void write_continued(const std::filesystem::path& path, H5F_libver_t oldest) {
  const hid_t access = made(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_libver_bounds(access, oldest, H5F_LIBVER_LATEST);
  const hid_t file = made(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
  const hid_t space = made(H5Screate(H5S_SCALAR));
  for (int i = 0; i < 7; ++i) {
    const hid_t attribute =
        made(H5Acreate2(file, fmt::format("number {}", i).c_str(), H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT));
    const std::int64_t value = 10 * i;
    made(H5Awrite(attribute, H5T_NATIVE_INT64, &value));
    H5Aclose(attribute);
  }
  H5Sclose(space);
  H5Fclose(file);
  H5Pclose(access);
}

TEST(Hdf5Headers, ContinuationsAreRead) {
  for (const H5F_libver_t oldest : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
    const TemporaryFolder folder;
    write_continued(folder / "a.h5", oldest);
    const Hdf5File file = Hdf5File::open(folder / "a.h5");
    for (int i = 0; i < 7; ++i) EXPECT_EQ(file.integer("/", fmt::format("number {}", i)), 10 * i);
  }
}

// In an old header, only the length itself says how long a continuation is: the library would allocate gigabytes.
TEST(Hdf5Headers, AContinuationLongerThanTheFileDoesNotReachTheLibrary) {
  const TemporaryFolder folder;
  write_continued(folder / "a.h5", H5F_LIBVER_EARLIEST);
  std::string bytes = content(folder / "a.h5");
  const std::string message{0x10, 0, 16, 0, 0, 0, 0, 0};  // a continuation of 16 bytes: address, length
  const std::size_t at = bytes.find(message);
  ASSERT_NE(at, std::string::npos) << "the header is continued";
  bytes[at + 8 + 8 + 4] = 1;  // 4 GiB more
  std::ofstream(folder / "b.h5", std::ios::binary) << bytes;
  EXPECT_HAS(error_of([&] { Hdf5File::open(folder / "b.h5").integer("/", "number 6"); }), "damaged");
}

TEST(Hdf5Headers, AHeaderLongerThanTheFileDoesNotReachTheLibrary) {
  const TemporaryFolder folder;
  write_continued(folder / "a.h5", H5F_LIBVER_EARLIEST);
  std::string bytes = content(folder / "a.h5");
  constexpr std::size_t root = 96;  // after the superblock of the oldest kind
  ASSERT_EQ(bytes[root], 1) << "an old header";
  bytes[root + 11] = 0x70;
  std::ofstream(folder / "b.h5", std::ios::binary) << bytes;
  EXPECT_HAS(error_of([&] { Hdf5File::open(folder / "b.h5").integer("/", "number 0"); }), "damaged");
}

// What follows a short header in the first 512 bytes read is not a message.
TEST(Hdf5Headers, WhatLiesBehindAHeaderIsNotJudged) {
  std::vector<std::uint8_t> bytes(512, 0xff);
  std::fill_n(bytes.begin(), 24, std::uint8_t{0});
  bytes[0] = 1;  // version; no messages, only 8 empty bytes
  bytes[8] = 8;
  bytes[24] = 0x10;
  bytes[25] = 0;
  Hdf5Headers headers({.file_bytes = 4096});
  EXPECT_TRUE(headers.sound(0, bytes, [](const Hdf5Reference&) { return true; }));
}

}  // namespace
}  // namespace isobar::hdf5
