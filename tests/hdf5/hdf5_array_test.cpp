#include "isobar/hdf5/hdf5_array.hpp"

#include <fstream>
#include <map>
#include <thread>

#include "tests/expect_error.hpp"
#include "tests/hdf5/made_hdf5.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::hdf5 {
namespace {

using namespace isobar::tests;

const std::vector<hsize_t> shape{7, 6, 10};

struct Type {
  hid_t id;
  bool negative;
};

// Under the lock: the library's types are calls.
std::map<std::string, Type> types() {
  const auto lock = lock_hdf5();
  return {{"int8", {H5T_STD_I8LE, true}},        {"uint8", {H5T_STD_U8BE, false}},
          {"int16", {H5T_STD_I16LE, true}},      {"int16 big", {H5T_STD_I16BE, true}},
          {"uint16", {H5T_STD_U16LE, false}},    {"uint16 big", {H5T_STD_U16BE, false}},
          {"int32", {H5T_STD_I32LE, true}},      {"int32 big", {H5T_STD_I32BE, true}},
          {"uint32", {H5T_STD_U32LE, false}},    {"int64", {H5T_STD_I64LE, true}},
          {"int64 big", {H5T_STD_I64BE, true}},  {"uint64 big", {H5T_STD_U64BE, false}},
          {"float16", {half_type(false), true}}, {"float16 big", {half_type(true), true}},
          {"float32", {H5T_IEEE_F32LE, true}},   {"float32 big", {H5T_IEEE_F32BE, true}},
          {"float64", {H5T_IEEE_F64LE, true}},   {"float64 big", {H5T_IEEE_F64BE, true}}};
}

std::map<std::string, MadeArray> storages() {
  std::map<std::string, MadeArray> all;
  all["contiguous"] = {};
  all["compact"] = {.compact = true};
  all["never written"] = {.written = false, .fill = 7};
  for (const char* const filters : {"", "g", "sg", "f", "sgf", "fsg", "s"}) {
    all[std::string("edges on all axes, ") + filters] = {.chunk = {3, 4, 7}, .filters = filters};
    all[std::string("whole rows, ") + filters] = {.chunk = {1, 6, 10}, .filters = filters};
    all[std::string("several rows, ") + filters] = {.chunk = {4, 6, 10}, .filters = filters};
    if (filters != std::string("sg")) continue;
    all[std::string("single numbers, ") + filters] = {.chunk = {1, 1, 1}, .filters = filters};
  }
  all["bigger than the array"] = {.chunk = {16, 16, 16}, .filters = "sg", .unlimited = 3};
  all["one axis may grow"] = {.chunk = {2, 3, 5}, .filters = "sg", .unlimited = 1};
  all["two axes may grow"] = {.chunk = {2, 3, 5}, .unlimited = 2};
  all["missing chunks"] = {.chunk = {2, 3, 5}, .filters = "g", .fill = -3, .rows = 3};
  all["plain edges"] = {.chunk = {3, 4, 7}, .filters = "sg", .plain_edges = true};
  return all;
}

template <class T>
std::vector<T> box_of(const std::vector<T>& whole, Indices from, Indices extent) {
  std::vector<T> part(static_cast<std::size_t>(box_count(extent)));
  const std::vector<std::int64_t> source(shape.begin(), shape.end());
  for_each_run(extent, source, from, extent, IndexArray(extent.size()),
               [&](std::int64_t in, std::int64_t out, std::int64_t count) {
                 std::copy_n(whole.begin() + in, count, part.begin() + out);
               });
  return part;
}

template <class T>
void expect_same(const Hdf5File& file, const Hdf5Array& array) {
  std::vector<T> expected(7 * 6 * 10), whole(expected.size());
  file.read<T>("x", expected);
  array.read<T>(whole);
  EXPECT_EQ(whole, expected);
  const std::vector<std::int64_t> boxes[][2] = {{{0, 0, 0}, {1, 6, 10}}, {{2, 0, 0}, {3, 6, 10}},
                                                {{6, 5, 9}, {1, 1, 1}},  {{1, 2, 3}, {5, 3, 6}},
                                                {{0, 0, 4}, {7, 6, 1}},  {{3, 1, 0}, {2, 4, 10}}};
  for (const auto& [from, extent] : boxes) {
    std::vector<T> part(static_cast<std::size_t>(box_count(extent)));
    array.read_box<T>(from, extent, part);
    EXPECT_EQ(part, box_of(expected, from, extent));
  }
  for (std::int64_t row = 0; row < 7; ++row) {
    std::vector<T> part(60);
    array.read_rows<T>(row, 1, part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), expected.begin() + 60 * row)) << "row " << row;
  }
}

TEST(Hdf5Array, ReadsWhatTheLibraryReads) {
  const TemporaryFolder folder;
  const auto all_types = types();
  for (const auto& [storage_name, storage] : storages())
    for (const auto& [type_name, type] : all_types)
      for (const MadeFile& how : {MadeFile{}, MadeFile{.latest = true}, MadeFile{.user_block = 1024}}) {
        // Not every type in every kind of file: types and positions are found independently.
        if ((how.latest || how.user_block > 0) && type_name != "int16 big" && type_name != "float32") continue;
        SCOPED_TRACE(
            fmt::format("{}, {}, latest {}, user block {}", storage_name, type_name, how.latest, how.user_block));
        MadeArray array = storage;
        array.shape = shape;
        array.type = type.id;
        if (!type.negative) array.fill = std::abs(array.fill);
        write_hdf5(folder / "a.h5", how,
                   [&](hid_t file) { write_array(file, array, any_numbers(shape, type.negative)); });
        const Hdf5File file = Hdf5File::open(folder / "a.h5");
        const Hdf5Array read(file, "x");
        EXPECT_TRUE(read.direct());
        EXPECT_EQ(read.shape(), (Shape{7, 6, 10}));
        expect_same<float>(file, read);
        expect_same<double>(file, read);
        expect_same<std::int16_t>(file, read);
        expect_same<std::int32_t>(file, read);
        // The library converts negative half floats to int64 differently.
        if (!type_name.starts_with("float16")) expect_same<std::int64_t>(file, read);
        expect_same<std::uint8_t>(file, read);
        if (HasFailure()) return;
      }
}

// The library itself is no reference for big-endian and half numbers: stored big-endian, 1.10.8 turns the float64
// 4294967295 into 2147483648, and the uint16 32768 read as int16 into -32768.
TEST(Hdf5Array, WhatDoesNotFitBecomesTheNearest) {
  const TemporaryFolder folder;
  const std::vector<double> values{
      0,     -0.75, 1.5, -1.5, 127.9, 128,   255.5, 256,    -32769, 32768, 65504,  65536,  1e-7,
      -6e-8, 2e9,   3e9, -3e9, 1e19,  -1e19, 1e30,  -1e300, 1e300,  0.1,   5e-324, 2048.5, 9007199254740992.0};
  const auto all = types();
  for (const auto& [name, type] : all) {
    SCOPED_TRACE(name);
    const bool big = name.ends_with(" big"), half = name.starts_with("float16");
    const std::string little = name.substr(0, name.find(' '));
    write_hdf5(folder / "a.h5", {}, [&](hid_t file) {
      write_array(file, {.shape = {values.size()}, .type = type.id}, values);
      if (all.contains(little))
        write_array(file, {.name = "little", .shape = {values.size()}, .type = all.at(little).id}, values);
    });
    const Hdf5File file = Hdf5File::open(folder / "a.h5");
    const auto compare = [&]<class T>(T) {
      std::vector<T> expected(values.size()), got(values.size());
      if (!big) file.read<T>("x", expected);
      else if (all.contains(little)) Hdf5Array(file, "little").read<T>(expected);
      else return;
      Hdf5Array(file, "x").read<T>(got);
      EXPECT_EQ(got, expected);
    };
    compare(float{}), compare(double{});
    if (!half || big)
      compare(std::int16_t{}), compare(std::int32_t{}), compare(std::int64_t{}), compare(std::uint8_t{});
  }
}

TEST(Hdf5Array, TheRestIsReadByTheLibrary) {
  const TemporaryFolder folder;
  hid_t twelve_bits;
  {
    const auto lock = lock_hdf5();
    twelve_bits = made(H5Tcopy(H5T_STD_I16LE));
    made(H5Tset_precision(twelve_bits, 12));
  }
  for (const MadeArray& storage :
       {MadeArray{.type = twelve_bits, .chunk = {3, 4, 7}, .filters = "n"}, MadeArray{.type = twelve_bits},
        MadeArray{.type = types().at("int32").id, .chunk = {3, 4, 7}, .filters = "o"},
        MadeArray{.chunk = {3, 4, 7}, .filters = "gg"}}) {
    MadeArray array = storage;
    array.shape = shape;
    write_hdf5(folder / "a.h5", {}, [&](hid_t file) { write_array(file, array, any_numbers(shape, true)); });
    const Hdf5File file = Hdf5File::open(folder / "a.h5");
    const Hdf5Array read(file, "x");
    EXPECT_FALSE(read.direct());
    expect_same<float>(file, read);
    expect_same<std::int64_t>(file, read);
  }
}

TEST(Hdf5Array, SingleNumbersAndNothing) {
  const TemporaryFolder folder;
  write_hdf5(folder / "a.h5", {}, [](hid_t file) {
    write_array(file, {.name = "one"}, {2.5});
    write_array(file, {.name = "none", .shape = {0, 3}}, {});
    write_array(file, {.name = "no chunks", .shape = {0, 3}, .chunk = {2, 2}, .unlimited = 1}, {});
    const hid_t null = made(H5Screate(H5S_NULL));
    H5Dclose(made(H5Dcreate2(file, "null", H5T_NATIVE_FLOAT, null, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
    H5Sclose(null);
  });
  const Hdf5File file = Hdf5File::open(folder / "a.h5");
  float value = 0;
  Hdf5Array(file, "one").read<float>({&value, 1});
  EXPECT_EQ(value, 2.5f);
  for (const char* const name : {"none", "no chunks", "null"}) {
    EXPECT_EQ(Hdf5Array(file, name).shape().count(), 0) << name;
    Hdf5Array(file, name).read<float>({});
  }
}

TEST(Hdf5Array, LongRowsInAllTheWaysTheyAreRead) {
  const TemporaryFolder folder;
  const std::vector<hsize_t> big{3, 300, 400, 2};  // longer runs and smaller blocks than are read at once
  const std::vector<double> values = any_numbers(big, true);
  for (const std::vector<hsize_t>& chunk : {std::vector<hsize_t>{}, {2, 128, 400, 2}, {1, 300, 400, 1}})
    for (const bool wide : {false, true}) {
      const MadeArray array{.shape = big, .type = types().at(wide ? "float64" : "float32").id, .chunk = chunk};
      write_hdf5(folder / "a.h5", {}, [&](hid_t file) { write_array(file, array, values); });
      const Hdf5Array read(Hdf5File::open(folder / "a.h5"), "x");
      for (const std::int64_t channel : {0, 1}) {
        std::vector<float> plane(300 * 398);
        read.read_box<float>(std::vector<std::int64_t>{2, 0, 1, channel}, std::vector<std::int64_t>{1, 300, 398, 1},
                             plane);
        for (std::size_t i = 0; i < plane.size(); ++i) {
          const std::size_t h = i / 398, w = i % 398 + 1;
          ASSERT_EQ(plane[i], values[((600 + h) * 400 + w) * 2 + static_cast<std::size_t>(channel)]);
        }
      }
      std::vector<float> all(values.size());
      read.read<float>(all);
      ASSERT_TRUE(std::equal(all.begin(), all.end(), values.begin()));
    }
}

TEST(Hdf5Array, ManyThreadsAtOnce) {
  const TemporaryFolder folder;
  const std::vector<hsize_t> big{64, 50, 9};
  const std::vector<double> values = any_numbers(big, true);
  for (const char* const filters : {"", "sg", "sgf"}) {
    write_hdf5(folder / "a.h5", {}, [&](hid_t file) {
      write_array(file, {.shape = big, .chunk = {5, 20, 9}, .filters = filters}, values);
    });
    const Hdf5Array array(Hdf5File::open(folder / "a.h5"), "x");
    std::vector<int> wrong(4, 0);
    {
      std::vector<std::jthread> threads;
      for (std::size_t t = 0; t < wrong.size(); ++t)
        threads.emplace_back([&, t] {
          std::vector<float> row(450);
          for (std::size_t k = 0; k < 64; ++k) {
            const std::size_t i = (k * 7 + t * 13) % 64;
            array.read_rows<float>(static_cast<std::int64_t>(i), 1, row);
            wrong[t] += !std::equal(row.begin(), row.end(), values.begin() + static_cast<std::ptrdiff_t>(450 * i));
          }
        });
    }
    EXPECT_EQ(wrong, std::vector<int>(4, 0));
  }
}

TEST(Hdf5Array, TenThousandChunksAreFound) {
  const TemporaryFolder folder;
  const std::vector<double> values = any_numbers({20000}, true);
  for (const bool latest : {false, true}) {
    write_hdf5(folder / "a.h5", {.latest = latest},
               [&](hid_t file) { write_array(file, {.shape = {20000}, .chunk = {2}, .unlimited = 1}, values); });
    const Hdf5Array array(Hdf5File::open(folder / "a.h5"), "x");
    std::vector<float> all(values.size());
    array.read<float>(all);
    EXPECT_TRUE(std::equal(all.begin(), all.end(), values.begin()));
  }
}

TEST(Hdf5Array, RequestsBeyondTheArrayAreRefused) {
  const TemporaryFolder folder;
  write_hdf5(folder / "a.h5", {}, [](hid_t file) { write_array(file, {.shape = {5, 2}}, any_numbers({5, 2}, true)); });
  const Hdf5File file = Hdf5File::open(folder / "a.h5");
  const Hdf5Array array(file, "x");
  std::vector<float> out(4);
  EXPECT_HAS(error_of([&] { array.read_rows<float>(4, 2, out); }), "a.h5: 'x' (5x2) has no rows 4 to 5");
  EXPECT_HAS(error_of([&] { array.read<float>(out); }), "holds 10 numbers (5x2), 4 were expected");
  const std::vector<std::int64_t> from{0, 1}, extent{2, 2};
  EXPECT_HAS(error_of([&] { array.read_box<float>(from, extent, out); }), "has no entries 1 to 2 of axis 1");
  EXPECT_HAS(error_of([&] { Hdf5Array(file, "y"); }), "a.h5: there is no array 'y'");
}

// Changes some bytes in the middle of a chunk.
void damage(const std::filesystem::path& path, const char* name, const std::vector<hsize_t>& chunk) {
  const auto lock = lock_hdf5();
  const hid_t file = made(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)), array = made(H5Dopen2(file, name, 0));
  unsigned skipped = 0;
  haddr_t offset = 0;
  hsize_t bytes = 0;
  made(H5Dget_chunk_info_by_coord(array, chunk.data(), &skipped, &offset, &bytes));
  H5Dclose(array);
  H5Fclose(file);
  std::fstream bytes_of(path, std::ios::in | std::ios::out | std::ios::binary);
  bytes_of.seekp(static_cast<std::streamoff>(offset + bytes / 2));
  for (int i = 0; i < 40; ++i) bytes_of.put('\x5a');
}

TEST(Hdf5Array, DamagedChunksAreNamed) {
  const TemporaryFolder folder;
  const std::vector<hsize_t> two{2, 5000};
  const auto make = [&](const char* filters) {
    write_hdf5(folder / "a.h5", {}, [&](hid_t file) {
      write_array(file, {.name = "deep/x", .shape = two, .chunk = {1, 5000}, .filters = filters},
                  any_numbers(two, true));
    });
    damage(folder / "a.h5", "deep/x", {1, 0});
    return Hdf5Array(Hdf5File::open(folder / "a.h5"), "deep/x");
  };
  std::vector<float> row(5000);
  for (const auto& [filters, reason] : {std::pair{"f", "its Fletcher-32 checksum is wrong"}, {"sg", "corrupt"}}) {
    const Hdf5Array array = make(filters);
    array.read_rows<float>(0, 1, row);
    const std::string message = error_of([&] { array.read_rows<float>(1, 1, row); });
    EXPECT_HAS(message, "a.h5: 'deep/x', chunk at [1, 0]: ");
    EXPECT_HAS(message, reason);
    array.read_rows<float>(0, 1, row);
    std::vector<float> part(10);  // a part of a chunk goes through the cache
    const std::vector<std::int64_t> from{1, 5}, extent{1, 10};
    for (int twice = 0; twice < 2; ++twice)
      EXPECT_HAS(error_of([&] { array.read_box<float>(from, extent, part); }), reason);
  }
}

TEST(Hdf5Array, AFileThatBecameShorterIsAnError) {
  const TemporaryFolder folder;
  for (const std::vector<hsize_t>& chunk : {std::vector<hsize_t>{}, {1, 5000}}) {
    write_hdf5(folder / "a.h5", {}, [&](hid_t file) {
      write_array(file, {.shape = {2, 5000}, .chunk = chunk}, any_numbers({2, 5000}, true));
    });
    const Hdf5Array array(Hdf5File::open(folder / "a.h5"), "x");
    std::vector<float> all(10000);
    array.read<float>(all);
    std::filesystem::resize_file(folder / "a.h5", 22'000);
    EXPECT_HAS(error_of([&] { array.read<float>(all); }), "a.h5: ends in the middle of 'x'");
  }
}

TEST(Hdf5Array, WhatIsNoNumbersIsRefused) {
  const TemporaryFolder folder;
  write_hdf5(folder / "a.h5", {}, [](hid_t file) {
    const hid_t text = made(H5Tcopy(H5T_C_S1)), space = made(H5Screate(H5S_SCALAR));
    const hid_t pair = made(H5Tcreate(H5T_COMPOUND, 8));
    made(H5Tinsert(pair, "left", 0, H5T_NATIVE_FLOAT));
    made(H5Tinsert(pair, "right", 4, H5T_NATIVE_FLOAT));
    for (const auto& [name, type] : {std::pair{"text", text}, {"pair", pair}})
      H5Dclose(made(H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
    H5Sclose(space);
  });
  const Hdf5File file = Hdf5File::open(folder / "a.h5");
  EXPECT_HAS(error_of([&] { Hdf5Array(file, "text"); }), "'text' does not hold numbers but text");
  EXPECT_HAS(error_of([&] { Hdf5Array(file, "pair"); }), "compound of left, right");
}

TEST(Hdf5Array, SaysHowItIsStored) {
  const TemporaryFolder folder;
  const auto all = types();
  write_hdf5(folder / "a.h5", {}, [&](hid_t file) {
    write_array(file, {.name = "a", .shape = {4}, .type = all.at("int16 big").id}, {1, 2, 3, 4});
    write_array(file, {.name = "b", .shape = {4, 6}, .chunk = {2, 3}, .filters = "sgf"}, any_numbers({4, 6}, true));
  });
  const Hdf5File file = Hdf5File::open(folder / "a.h5");
  EXPECT_EQ(Hdf5Array(file, "a").describe(), "int16, big-endian");
  EXPECT_EQ(Hdf5Array(file, "b").describe(), "float32, chunks of [2, 3], shuffle, gzip, fletcher32");
  EXPECT_TRUE(Hdf5Array(file, "a").stored().fits_int16());
}

}  // namespace
}  // namespace isobar::hdf5
