// NumPy files: every type in both orders, what is refused, and cases with checksums, our own and NumPy's.
#include "isobar/files/npy_file.hpp"

#include <cmath>
#include <fstream>
#include <libdeflate.h>
#include <sstream>

#include "isobar/files/archive_writer.hpp"

#include "tests/expect_error.hpp"
#include "tests/files/made_files.hpp"
#include "tests/files/public_data.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::files {
namespace {

using namespace isobar::tests;

constexpr std::int64_t npy_file_limit = 1 << 20;

std::vector<float> all(const NpyFile& file) {
  std::vector<float> out(static_cast<std::size_t>(file.shape().count()));
  file.read(0, out);
  return out;
}

// A file whose header is `text`, followed by some bytes.
FileBytes npy(const std::string& text, const FileBytes& data, std::uint8_t version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  bytes += static_cast<char>(text.size());
  bytes.append(version > 1 ? 3 : 1, '\0');
  bytes += text;
  bytes.append(data.begin(), data.end());
  return {bytes.begin(), bytes.end()};
}

std::string header_text(const std::string& type, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (" + shape +
         "), }\n";
}

TEST(NpyFile, OrdersOfAxesAndBytes) {
  const TemporaryFolder folder;
  const auto read = [&](const FileBytes& bytes) {
    write_bytes(folder / "a.npy", bytes);
    return all(NpyFile(folder / "a.npy", npy_file_limit));
  };
  EXPECT_EQ(read(npy(header_text("<i2", "2, 3"), {0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0})),
            (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(read(npy(header_text(">i2", "2, 3", true), {0, 0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5})),
            (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(read(npy(header_text("|u1", "2, 2, 2", true), {0, 4, 2, 6, 1, 5, 3, 7})),
            (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(read(npy(header_text("|b1", "3,"), {0, 1, 1}, 3)), (std::vector<float>{0, 1, 1}));
  EXPECT_EQ(read(npy(header_text("<f4", ""), {0, 0, 0x80, 0x3F}, 2)), (std::vector<float>{1}));
  EXPECT_EQ(read(npy(header_text("<f8", "3, 0, 2"), {})), std::vector<float>());
  EXPECT_EQ(read(npy("{\"shape\": (2L,), \"fortran_order\":False,\"descr\":\"|i1\"}", {1, 0xFF})),
            (std::vector<float>{1, -1}));
}

TEST(NpyFile, AnyPartOfALargeFile) {
  const TemporaryFolder folder;
  constexpr std::int64_t count = 200'000;
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<float>(i % 30'011));
  for (const NumberType type : {NumberType::int16, NumberType::float32, NumberType::float64}) {
    FileBytes bytes = npy_header(type, Shape{count / 10, 10});
    EXPECT_EQ(bytes.size() % 64, 0u);
    FileBytes data(numbers.size() * width_of(type));
    from_floats(type, numbers, data);
    bytes.insert(bytes.end(), data.begin(), data.end());
    write_bytes(folder / "a.npy", bytes);
    const NpyFile file(folder / "a.npy", 100);  // nothing is held in memory
    EXPECT_EQ(file.shape(), (Shape{count / 10, 10}));
    EXPECT_EQ(all(file), numbers);
    std::vector<float> out(70'001);
    file.read(99'999, out);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), numbers.begin() + 99'999));
    EXPECT_THROW(file.read(count - 70'000, out), std::logic_error);
  }
}

TEST(NpyFile, RefusedWithAReason) {
  const TemporaryFolder folder;
  const auto message = [&](const FileBytes& bytes) {
    write_bytes(folder / "bad.npy", bytes);
    return error_of([&] { NpyFile(folder / "bad.npy", npy_file_limit); });
  };
  EXPECT_HAS(message(npy(header_text("<c8", "1,"), FileBytes(8))), "bad.npy: holds complex numbers");
  EXPECT_HAS(message(npy(header_text("<U3", "1,"), FileBytes(12))), "holds texts");
  EXPECT_HAS(message(npy(header_text("|O", "1,"), FileBytes(8))), "Python objects");
  EXPECT_HAS(message(npy("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2,)}", FileBytes(8))),
             "structures");
  EXPECT_HAS(message(npy(header_text("<f4", "-1,"), {})), "not a list of numbers from 0 up");
  EXPECT_HAS(message(npy(header_text("<f4", "3,"), FileBytes(11))), "[3] of float32, 12 bytes, but 11 bytes follow it");
  EXPECT_HAS(message(npy(header_text("<f4", "3,"), FileBytes(13))), "13 bytes follow");
  EXPECT_HAS(message(npy(header_text("<f4", "99999999999999999999,"), {})), "entries");
  EXPECT_HAS(message(npy(header_text("<f4", "99999999999, 99999999999, 0"), {})), "beyond any file");
  EXPECT_HAS(message(npy(header_text("<f4", "1, 1") + "x", FileBytes(4))), "not describe an array");
  EXPECT_HAS(message(npy("{'shape': (1,)}", FileBytes(4))), "not describe an array");
  EXPECT_HAS(message(npy("{'shape': (1,), 'shape': (1,)}", FileBytes(4))), "unexpected 'shape'");
  const FileBytes good = npy(header_text("<f4", "2, 2"), FileBytes(16));
  for (std::size_t cut = 0; cut < good.size(); ++cut)
    EXPECT_HAS(message(FileBytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(cut))), "bad.npy: ");
  write_bytes(folder / "f.npy", npy(header_text("<f4", "2, 2", true), FileBytes(16)));
  EXPECT_HAS(error_of([&] { NpyFile(folder / "f.npy", 15); }), "Fortran order");
}

TEST(NpzFile, MembersByName) {
  const TemporaryFolder folder;
  ArchiveWriter writer(folder / "two.npz", ArchiveWriter::Kind::zip);
  for (const auto& [name, numbers] :
       {std::pair{"x.npy", std::vector<float>{1, 2, 3}}, std::pair{"y.npy", std::vector<float>{9}}}) {
    FileBytes bytes = npy_header(NumberType::uint8, Shape{static_cast<std::int64_t>(numbers.size())});
    bytes.insert(bytes.end(), numbers.begin(), numbers.end());
    writer.begin(name, static_cast<std::int64_t>(bytes.size()));
    writer.write(bytes);
  }
  writer.commit();
  const auto arrays = read_npz(folder / "two.npz", {"x"}, npy_file_limit);
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(all(arrays.at("x")), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(read_npz(folder / "two.npz", {}, npy_file_limit).size(), 2u);
  EXPECT_HAS(error_of([&] { read_npz(folder / "two.npz", {"z"}, npy_file_limit); }), "has no array 'z'; it has: x, y");
  EXPECT_HAS(error_of([&] { read_npz(folder / "two.npz", {}, 140); }), "would be held");
  const auto members = list_npz(folder / "two.npz");
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[1].name, "y");
  EXPECT_EQ(members[1].header->shape, Shape{1});
}

std::string checksum(const FileBytes& bytes) {
  return fmt::format("{:08x}", libdeflate_crc32(0, bytes.data(), bytes.size()));
}

// The numbers of one case against their checksum in C order, little-endian.
void check_values(const std::filesystem::path& path, const NpyFile& file, const std::string& sum) {
  const NumberType type = file.header().type;
  const std::vector<float> numbers = all(file);
  const bool exact = width_of(type) <= 2 || type == NumberType::float32;
  if (exact && path.stem() != "special_f2") {  // NaNs of float16 have many forms
    FileBytes bytes(numbers.size() * width_of(type));
    from_floats(type, numbers, bytes);
    EXPECT_EQ(checksum(bytes), sum);
  } else if (!file.header().fortran) {
    const InputFile raw(path);
    FileBytes bytes(static_cast<std::size_t>(file.header().bytes()));
    raw.read_at(file.header().data, bytes);
    const auto width = static_cast<std::ptrdiff_t>(width_of(type));
    for (auto at = bytes.begin(); file.header().order == std::endian::big && at != bytes.end(); at += width)
      std::reverse(at, at + width);
    EXPECT_EQ(checksum(bytes), sum);
    std::vector<float> again(numbers.size());
    to_floats(type, bytes, std::endian::little, again);
    for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_TRUE(numbers[i] == again[i] || std::isnan(again[i])) << i;
  } else {  // the file has the same numbers in C order
    const auto twin = path.parent_path() / ("c" + path.filename().string().substr(1));
    EXPECT_EQ(numbers, all(NpyFile(twin, npy_file_limit)));
  }
}

void check_cases(const std::filesystem::path& folder) {
  std::ifstream manifest(folder / "manifest.csv");
  std::string line;
  std::getline(manifest, line);
  int read = 0, refused = 0, archives = 0;
  while (std::getline(manifest, line)) {
    std::vector<std::string> columns;
    for (std::size_t at = 0; (at = line.find('"', at)) != std::string::npos;) {
      const std::size_t end = line.find('"', at + 1);
      columns.push_back(line.substr(at + 1, end - at - 1));
      at = end + 1;
    }
    ASSERT_EQ(columns.size(), 7u) << line;
    SCOPED_TRACE(columns[0]);
    const auto path = folder / columns[0];
    if (columns[1] == "zip") {
      const auto arrays = read_npz(path, {"x", "y"}, npy_file_limit);
      EXPECT_EQ(arrays.at("x").shape(), (Shape{7, 3}));
      EXPECT_EQ(arrays.at("x").header().type, NumberType::float32);
      EXPECT_EQ(arrays.at("y").shape(), Shape{10});
      EXPECT_EQ(all(arrays.at("x")), all(NpyFile(folder / "v1.npy", npy_file_limit)));
      ++archives;
      continue;
    }
    try {
      const NpyFile file(path, npy_file_limit);
      check_values(path, file, columns[5]);
      EXPECT_FALSE(columns[6].starts_with("MUST FAIL"));
      ++read;
    } catch (const Error& error) {
      const bool expected = columns[6].starts_with("MUST FAIL") || columns[1].find('c') != std::string::npos ||
                            columns[1].find_first_of("SU[") != std::string::npos;
      EXPECT_TRUE(expected) << error.what();
      ++refused;
    }
  }
  EXPECT_EQ(read, 53);
  EXPECT_EQ(refused, 9 + 8 + 3);
  EXPECT_EQ(archives, 2);
}

TEST(NpyFile, MadeCases) {
  const TemporaryFolder folder;
  make_with("make_conformance.py", folder.path());
  check_cases(folder / "npy");
}

TEST(NpyFile, PublicCases) {
  const auto folder = public_data("conformance/npy");
  if (folder.empty()) GTEST_SKIP() << "the public files are not beside this tree";
  check_cases(folder);
}

}  // namespace
}  // namespace isobar::files
