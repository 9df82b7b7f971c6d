// Files with every kind of array, made here, and public HDF5 files, if they are next to the tree: every array of
// numbers is read as by the library itself, and every other one is refused with a reason. Also a file of ours, as the
// tool h5dump sees it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>

#include "isobar/hdf5/hdf5_array.hpp"
#include "isobar/hdf5/hdf5_tree.hpp"

#include "tests/expect_error.hpp"
#include "tests/files/public_data.hpp"
#include "tests/hdf5/made_hdf5_kinds.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::hdf5 {
namespace {

using namespace isobar::tests;

bool hdf5_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Arrays too large to be held are compared at both ends.
void expect_same(const Hdf5File& file, const Hdf5Entry& entry) {
  const Hdf5Array array(file, entry.name);
  const std::int64_t count = entry.shape.count(), most = 4'000'000;
  if (count == 0) return;
  std::vector<double> expected, got;
  const auto rows = [&](std::int64_t first, std::int64_t n) {
    const auto numbers = static_cast<std::size_t>(n * (count / std::max<std::int64_t>(1, entry.shape[0])));
    expected.assign(numbers, 0), got.assign(numbers, 1);
    file.read_rows<double>(entry.name, first, n, expected);
    array.read_rows<double>(first, n, got);
    EXPECT_TRUE(std::ranges::equal(expected, got, hdf5_same)) << entry.name;
  };
  if (entry.shape.rank() == 0) {
    double one = 0, other = 1;
    file.read<double>(entry.name, {&one, 1});
    array.read<double>({&other, 1});
    EXPECT_TRUE(hdf5_same(one, other)) << entry.name;
  } else if (count <= most) {
    rows(0, entry.shape[0]);
  } else {
    const std::int64_t some = std::max<std::int64_t>(1, most / (count / entry.shape[0]));
    rows(0, some);
    rows(entry.shape[0] - some, some);
  }
}

// Checks an array and returns its fate, in the terms of made_hdf5_kinds.hpp.
std::string fate(const Hdf5File& file, const Hdf5Entry& entry) {
  if (!entry.obstacle.empty()) {
    EXPECT_EQ(error_of([&] { Hdf5Array(file, entry.name); }).substr(0, 200), entry.obstacle.substr(0, 200));
    return "refused";
  }
  if (contains(entry.type, "LZF")) {  // the library does not have this filter
    std::vector<double> numbers(static_cast<std::size_t>(entry.shape.count()));
    Hdf5Array(file, entry.name).read<double>(numbers);
    return "only_here";
  }
  expect_same(file, entry);
  return Hdf5Array(file, entry.name).direct() ? "direct" : "library";
}

TEST(Hdf5Conformance, MadeFiles) {
  const TemporaryFolder folder;
  for (const MadeFile& how : {MadeFile{}, MadeFile{.latest = true}, MadeFile{.latest = true, .extended = true},
                              MadeFile{.user_block = 1024}, MadeFile{.latest = true, .user_block = 512}}) {
    SCOPED_TRACE(fmt::format("latest {}, extended {}, user block {}", how.latest, how.extended, how.user_block));
    const int arrays = write_every_kind(folder / "a.h5", how);
    const Hdf5File file = Hdf5File::open(folder / "a.h5");
    const std::vector<Hdf5Entry> entries = list_arrays(file, 100'000);
    EXPECT_EQ(std::ssize(entries), arrays);
    for (const Hdf5Entry& entry : entries)
      EXPECT_EQ(fate(file, entry), entry.name.substr(0, entry.name.find('/'))) << entry.name << " " << entry.obstacle;
    std::vector<double> numbers(100);
    Hdf5Array(file, "only_here/lzf").read<double>(numbers);
    EXPECT_EQ(numbers, any_numbers({100}, true));
  }
}

TEST(Hdf5Conformance, PublicFiles) {
  const auto folder = public_data("conformance/hdf5");
  if (folder.empty()) GTEST_SKIP() << "the public files are not beside this tree";
  int files = 0;
  std::map<std::string, int> fates, reasons;
  for (const auto& found : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(found.path().filename().string());
    ++files;
    const Hdf5File file = Hdf5File::open(found.path());
    for (const Hdf5Entry& entry : list_arrays(file)) {
      ++fates[fate(file, entry)];
      if (!entry.obstacle.empty()) ++reasons[entry.obstacle.substr(entry.obstacle.find("' ") + 2)];
    }
  }
  std::cout << fmt::format(
      "{} files: {} arrays read directly as the library reads them, {} it cannot read, {} by it, {} refused:\n", files,
      fates["direct"], fates["only_here"], fates["library"], fates["refused"]);
  for (const auto& [reason, count] : reasons) std::cout << fmt::format("  {:4} {}\n", count, reason);
  EXPECT_GT(fates["direct"], 100);
}

TEST(Hdf5Conformance, H5dumpSeesTheSameNumbers) {
  ASSERT_EQ(std::system("h5dump --version > /dev/null 2>&1"), 0) << "needs the Debian package hdf5-tools";
  const TemporaryFolder folder;
  Hdf5File made_file = Hdf5File::create(folder / "a.h5");
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < 60; ++i) {
    const auto value = static_cast<std::int16_t>(i * 677 - 20000);
    bytes.push_back(static_cast<std::uint8_t>(value & 255));
    bytes.push_back(static_cast<std::uint8_t>(value >> 8 & 255));
  }
  made_file.make_array("g/x", Shape{6, 10}, {.type = files::NumberType::int16, .chunk = Shape{4, 3}, .gzip = 6});
  made_file.write_rows("g/x", 0, std::span(bytes).first(40));
  made_file.write_rows("g/x", 2, std::span(bytes).subspan(40));
  made_file.commit(false);

  const std::string command = fmt::format("h5dump -d /g/x -y -w 0 -o '{}' '{}' > /dev/null", (folder / "out").string(),
                                          (folder / "a.h5").string());
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::FILE* const out = std::fopen((folder / "out").c_str(), "r");
  std::vector<double> dumped;
  for (double value; std::fscanf(out, " %lf%*[ ,\n]", &value) == 1;) dumped.push_back(value);
  std::fclose(out);
  std::vector<double> got(60);
  Hdf5Array(Hdf5File::open(folder / "a.h5"), "g/x").read<double>(got);
  EXPECT_EQ(got, dumped);
  EXPECT_EQ(got[59], 59 * 677 - 20000);
}

TEST(Hdf5Tree, ListsArraysAndSurvivesCircles) {
  const TemporaryFolder folder;
  write_hdf5(folder / "a.h5", {}, [](hid_t file) {
    write_array(file, {.name = "b/x", .shape = {4, 2}, .chunk = {2, 2}, .filters = "g"}, any_numbers({4, 2}, true));
    write_array(file, {.name = "a"}, {1});
    made(H5Lcreate_hard(file, "/", file, "b/again", H5P_DEFAULT, H5P_DEFAULT));
    made(H5Lcreate_soft("/nowhere", file, "lost", H5P_DEFAULT, H5P_DEFAULT));
    made(H5Lcreate_external("absent.h5", "/x", file, "elsewhere", H5P_DEFAULT, H5P_DEFAULT));
    const hid_t text = made(H5Tcopy(H5T_C_S1)), space = made(H5Screate(H5S_SCALAR));
    H5Dclose(made(H5Dcreate2(file, "note", text, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
    H5Sclose(space);
  });
  const Hdf5File file = Hdf5File::open(folder / "a.h5");
  const std::vector<Hdf5Entry> entries = list_arrays(file);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].name, "a");
  EXPECT_EQ(entries[1].name, "b/x");
  EXPECT_EQ(entries[1].shape, (Shape{4, 2}));
  EXPECT_EQ(entries[1].type, "float32, chunks of [2, 2], gzip");
  EXPECT_EQ(entries[2].type, "text");
  EXPECT_HAS(entries[2].obstacle, "does not hold numbers");
  EXPECT_EQ(list_arrays(file, 2).size(), 2u);
  EXPECT_EQ(file.kind("lost"), Hdf5Kind::other);
  EXPECT_EQ(file.kind("b"), Hdf5Kind::group);
}

}  // namespace
}  // namespace isobar::hdf5
