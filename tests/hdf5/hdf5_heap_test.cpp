// Files in which the HDF5 library would get lost are refused beforehand.
#include "isobar/hdf5/hdf5_heap.hpp"

#include <algorithm>
#include <fstream>

#include <hdf5.h>

#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/expect_error.hpp"
#include "tests/files/made_files.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::hdf5 {
namespace {

using namespace isobar::tests;

// A file with a text of variable length as attribute, which is stored in a global heap.
void write_with_heap(const std::filesystem::path& path) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, H5T_VARIABLE);
  const hid_t attribute = H5Acreate2(file, "note", type, space, H5P_DEFAULT, H5P_DEFAULT);
  const char* text = "varying";
  ASSERT_GE(H5Awrite(attribute, type, &text), 0);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  H5Fclose(file);
}

TEST(Hdf5Heap, SoundHeapsPassAndEndlessOnesDoNot) {
  const TemporaryFolder folder;
  const auto path = folder / "heap.h5";
  write_with_heap(path);
  EXPECT_EQ(Hdf5File::open(path).text("/", "note"), "varying");
  std::ifstream in(path, std::ios::binary);
  const FileBytes sound{std::istreambuf_iterator<char>(in), {}};
  const std::string_view mark = "GCOL";
  const auto heap = std::search(sound.begin(), sound.end(), mark.begin(), mark.end()) - sound.begin();
  ASSERT_LT(static_cast<std::size_t>(heap) + 40, sound.size());

  const auto broken = [&](std::ptrdiff_t at, std::initializer_list<std::uint8_t> bytes) {
    FileBytes copy = sound;
    std::ranges::copy(bytes, copy.begin() + heap + at);
    write_bytes(path, copy);
    return error_of([&] { Hdf5File::open(path).text("/", "note"); });
  };
  EXPECT_HAS(broken(16, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), "damaged");  // size 0: endless
  EXPECT_HAS(broken(24, {0xff, 0xff, 0xff}), "damaged");                                // beyond the heap
  EXPECT_HAS(broken(8, {0xff, 0xff, 0xff, 0xff}), "damaged");                           // beyond the file
}

TEST(Hdf5Heap, ReferencesToObjectsThatAreNotThere) {
  const TemporaryFolder folder;
  const auto path = folder / "heap.h5";
  write_with_heap(path);
  std::ifstream in(path, std::ios::binary);
  FileBytes bytes{std::istreambuf_iterator<char>(in), {}};
  const std::string_view mark = "GCOL";
  const auto heap =
      static_cast<std::uint64_t>(std::search(bytes.begin(), bytes.end(), mark.begin(), mark.end()) - bytes.begin());
  // The reference in the attribute: length 7, the heap's address, object 1.
  FileBytes reference{7, 0, 0, 0};
  for (int i = 0; i < 8; ++i) reference.push_back(static_cast<std::uint8_t>(heap >> 8 * i));
  const auto at = std::search(bytes.begin(), bytes.end(), reference.begin(), reference.end());
  ASSERT_NE(at, bytes.end());
  ASSERT_EQ(at[12], 1);
  for (const int which : {12, 13, 14, 15}) {
    FileBytes broken = bytes;
    broken[static_cast<std::size_t>(at - bytes.begin() + which)] = 77;
    write_bytes(path, broken);
    EXPECT_THROW(Hdf5File::open(path).text("/", "note"), Error) << which;
  }
}

TEST(Hdf5Messages, AttributesOfBothKindsOfHeader) {
  const TemporaryFolder folder;
  for (const H5F_libver_t oldest : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, oldest, H5F_LIBVER_LATEST);
    const hid_t file = H5Fcreate((folder / "a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hsize_t three = 3;
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &three, nullptr);
    H5Tset_size(type, H5T_VARIABLE);
    const char* texts[] = {"one", "two", "three"};
    for (int i = 0; i < 20; ++i) {  // more than fit into a header
      const hid_t attribute =
          H5Acreate2(file, fmt::format("names{}", i).c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
      ASSERT_GE(H5Awrite(attribute, type, texts), 0);
      H5Aclose(attribute);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
    H5Pclose(access);
    const Hdf5File read = Hdf5File::open(folder / "a.h5");
    EXPECT_TRUE(read.has_attribute("/", "names19"));
  }
  int seen = 0;
  const auto count = [&](const Hdf5Reference& reference) {
    ++seen;
    EXPECT_LT(reference.number, 61u);
    return true;
  };
  std::ifstream in(folder / "a.h5", std::ios::binary);
  const FileBytes bytes{std::istreambuf_iterator<char>(in), {}};
  for (const std::string_view mark : {"FHDB"})
    for (auto at = bytes.begin(); (at = std::search(at, bytes.end(), mark.begin(), mark.end())) != bytes.end(); ++at)
      sound_block(std::span(at, bytes.end()).first(std::min<std::size_t>(512, bytes.end() - at)), count);
  EXPECT_GT(seen, 3) << "the attributes of the new kind of file lie in a block";
}

TEST(Hdf5Messages, ChunksWithoutExtentAreRefused) {
  const TemporaryFolder folder;
  for (const H5F_libver_t oldest : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_libver_bounds(access, oldest, H5F_LIBVER_LATEST);
    const hsize_t extents[] = {40, 30}, chunk[] = {21, 13};
    H5Pset_chunk(properties, 2, chunk);
    const hid_t file = H5Fcreate((folder / "c.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t space = H5Screate_simple(2, extents, nullptr);
    H5Dclose(H5Dcreate2(file, "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(properties);
    H5Pclose(access);
    EXPECT_EQ(Hdf5File::open(folder / "c.h5").shape("x"), (Shape{40, 30}));
    std::ifstream in(folder / "c.h5", std::ios::binary);
    FileBytes bytes{std::istreambuf_iterator<char>(in), {}};
    const std::size_t width = oldest == H5F_LIBVER_EARLIEST ? 4 : 1;
    FileBytes dimensions(3 * width);
    dimensions[0] = 21, dimensions[width] = 13, dimensions[2 * width] = 4;
    const auto at = std::search(bytes.begin(), bytes.end(), dimensions.begin(), dimensions.end());
    ASSERT_NE(at, bytes.end());
    *at = 0;
    write_bytes(folder / "c.h5", bytes);
    EXPECT_THROW(Hdf5File::open(folder / "c.h5").shape("x"), Error);
  }
}

}  // namespace
}  // namespace isobar::hdf5
