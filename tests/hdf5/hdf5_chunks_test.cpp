#include "isobar/hdf5/hdf5_chunks.hpp"

#include <gtest/gtest.h>

#include "isobar/hdf5/hdf5_driver.hpp"
#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/hdf5/made_hdf5.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::hdf5 {
namespace {

using namespace isobar::tests;

// The library's own answer, which it finds by going through all chunks.
Hdf5Chunk asked(hid_t array, const std::vector<hsize_t>& start) {
  unsigned skipped = 0;
  haddr_t offset = 0;
  hsize_t bytes = 0;
  made(H5Dget_chunk_info_by_coord(array, start.data(), &skipped, &offset, &bytes));
  return {offset == HADDR_UNDEF ? -1 : static_cast<std::int64_t>(offset), static_cast<std::int64_t>(bytes), skipped};
}

TEST(Hdf5Chunks, LieWhereTheLibrarySays) {
  const TemporaryFolder folder;
  for (const bool latest : {false, true})
    for (const std::size_t unlimited : {0u, 1u, 2u})
      for (const char* const filters : {"", "sg"}) {
        write_hdf5(folder / "a.h5", {.latest = latest}, [&](hid_t file) {
          write_array(file, {.shape = {40, 7}, .chunk = {3, 2}, .filters = filters, .unlimited = unlimited, .rows = 20},
                      any_numbers({20, 7}, true));
        });
        Hdf5Handle file, array;
        {
          const auto lock = lock_hdf5();
          const Hdf5Handle access = hdf5_reading_access();
          file = {made(H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDONLY, access.id)), H5Fclose};
          array = {made(H5Dopen2(file.id, "x", H5P_DEFAULT)), H5Dclose};
        }
        const std::vector<std::int64_t> shape{40, 7}, chunk{3, 2};
        const Hdf5Chunks chunks(array.id, folder / "a.h5", "x", shape, chunk);
        ASSERT_EQ(chunks.grid()[0], 14);
        ASSERT_EQ(chunks.grid()[1], 4);
        std::vector<std::int64_t> numbers;
        for (std::int64_t i = 55; i >= 0; --i) numbers.push_back(i);
        for (int twice = 0; twice < 2; ++twice) {  // looked up, then remembered
          const std::vector<Hdf5Chunk> found = chunks.find(numbers);
          const auto lock = lock_hdf5();
          for (std::size_t i = 0; i < numbers.size(); ++i) {
            const auto number = static_cast<hsize_t>(numbers[i]);
            const Hdf5Chunk expected = asked(array.id, {number / 4 * 3, number % 4 * 2});
            EXPECT_EQ(found[i].offset, expected.offset) << number;
            EXPECT_EQ(found[i].offset < 0, number / 4 * 3 >= 20);
            if (expected.offset < 0) continue;
            EXPECT_EQ(found[i].bytes, expected.bytes);
            EXPECT_EQ(found[i].skipped, expected.skipped);
          }
        }
        const auto lock = lock_hdf5();
        array = Hdf5Handle();
        file = Hdf5Handle();
      }
}

}  // namespace
}  // namespace isobar::hdf5
