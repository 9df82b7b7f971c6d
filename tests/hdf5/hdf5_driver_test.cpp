#include "isobar/hdf5/hdf5_driver.hpp"

#include <fstream>
#include <iterator>

#include "isobar/hdf5/hdf5_array.hpp"

#include "tests/expect_error.hpp"
#include "tests/hdf5/made_hdf5.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::hdf5 {
namespace {

using namespace isobar::tests;

void write_enumeration(const std::filesystem::path& path) {
  write_hdf5(path, {}, [](hid_t file) {
    const hid_t type = made(H5Tenum_create(H5T_STD_I32LE)), space = made(H5Screate(H5S_SCALAR));
    for (const int value : {0, 1, 2, 3}) made(H5Tenum_insert(type, fmt::format("state{}", value).c_str(), &value));
    const hid_t array = made(H5Dcreate2(file, "states", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const int value = 2;
    made(H5Dwrite(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value));
    H5Dclose(array);
    H5Sclose(space);
    H5Tclose(type);
  });
}

TEST(Hdf5Driver, AnEnumerationIsRead) {
  const TemporaryFolder folder;
  write_enumeration(folder / "a.h5");
  float state = 0;
  Hdf5Array(Hdf5File::open(folder / "a.h5"), "states").read<float>({&state, 1});
  EXPECT_EQ(state, 2.0f);
}

// The library would copy 200 bytes for every member of 4.
TEST(Hdf5Driver, AnEnumerationOfAWrongSizeDoesNotReachTheLibrary) {
  const TemporaryFolder folder;
  write_enumeration(folder / "a.h5");
  std::ifstream in(folder / "a.h5", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::string type{0x18, 4, 0, 0, 4, 0, 0, 0, 0x10};  // class 8, four members, four bytes, integers
  const std::size_t at = bytes.find(type);
  ASSERT_NE(at, std::string::npos);
  bytes[at + 4] = static_cast<char>(200);
  std::ofstream(folder / "b.h5", std::ios::binary) << bytes;
  const Hdf5File file = Hdf5File::open(folder / "b.h5");
  EXPECT_HAS(error_of([&] { Hdf5Array(file, "states"); }),
             "cannot open array 'states': an enumeration has another size than its numbers");
}

TEST(Hdf5Driver, NotesWhereRawDataLies) {
  const TemporaryFolder folder;
  write_hdf5(folder / "a.h5", {.user_block = 512},
             [](hid_t file) { write_array(file, {.shape = {1000}, .chunk = {1000}}, any_numbers({1000}, true)); });
  const auto lock = lock_hdf5();
  const Hdf5Handle access = hdf5_reading_access();
  const Hdf5Handle file(made(H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDONLY, access.id)), H5Fclose);
  EXPECT_GE(hdf5_descriptor(file.id), 0);
  const Hdf5Handle array(made(H5Dopen2(file.id, "x", H5P_DEFAULT)), H5Dclose);
  const hsize_t start = 0;
  std::uint32_t skipped = 0;
  char nothing = 'n';
  {
    const Hdf5Probe probe;
    made(H5Dread_chunk(array.id, H5P_DEFAULT, &start, &skipped, &nothing));
    EXPECT_EQ(nothing, 'n');
    EXPECT_EQ(probe.bytes, 4000);
    std::ifstream in(folder / "a.h5", std::ios::binary);
    in.seekg(probe.offset);
    float first = 0;
    in.read(reinterpret_cast<char*>(&first), 4);
    EXPECT_EQ(first, -50.0f);
    EXPECT_THROW(Hdf5Probe(), std::logic_error);
  }
  EXPECT_LT(H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDWR, access.id), 0) << "only for reading";
}

}  // namespace
}  // namespace isobar::hdf5
