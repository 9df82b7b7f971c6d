#include "isobar/hdf5/netcdf_classic_header.hpp"

#include <fstream>
#include <iterator>

#include "isobar/hdf5/netcdf_file.hpp"

#include "tests/expect_error.hpp"
#include "tests/files/made_files.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::hdf5 {
namespace {

using namespace isobar::tests;

/// A header written number by number.
struct Header {
  FileBytes bytes{'C', 'D', 'F'};

  explicit Header(int version) { bytes.push_back(static_cast<std::uint8_t>(version)); }
  Header& number(std::uint64_t value, int width = 4) {
    for (int shift = 8 * (width - 1); shift >= 0; shift -= 8)
      bytes.push_back(static_cast<std::uint8_t>(value >> shift));
    return *this;
  }
  Header& name(const std::string& text) {
    number(text.size());
    bytes.insert(bytes.end(), text.begin(), text.end());
    while (bytes.size() % 4 != 0) bytes.push_back(0);
    return *this;
  }
};

// One dimension x of 4 entries, an attribute, and a short variable v(x) with its numbers after the header.
FileBytes small_file(std::uint64_t extent = 4, std::uint64_t type = 3, std::uint64_t begin = 100) {
  Header header(1);
  header.number(0).number(0x0A).number(1).name("x").number(extent);      // records, dimensions
  header.number(0x0C).number(1).name("t").number(2).number(3).name("");  // attribute t = "..."
  header.bytes.resize(header.bytes.size() - 4);
  header.number(0x61620000);
  header.number(0x0B).number(1).name("v").number(1).number(0).number(0).number(0).number(type).number(8).number(begin);
  header.bytes.resize(100, 0);
  for (int i = 1; i <= 4; ++i) header.number(static_cast<std::uint64_t>(i), 2);
  return header.bytes;
}

std::string opening_error(const TemporaryFolder& folder, const FileBytes& bytes) {
  write_bytes(folder / "a.nc", bytes);
  return error_of([&] { NetcdfFile file(folder / "a.nc"); });
}

TEST(NetcdfClassicHeader, AFileMadeByHandIsRead) {
  const TemporaryFolder folder;
  write_bytes(folder / "a.nc", small_file());
  const files::InputFile bytes(folder / "a.nc");
  NetcdfHeader header;
  const std::vector<ClassicPlace> places = read_classic_header(bytes, header);
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].begin, 100);
  EXPECT_EQ(header.kind, "NetCDF classic");
  EXPECT_EQ(header.attributes[0].text, "ab");
  EXPECT_EQ(header.variables[0].shape, Shape{4});
  const NetcdfFile file(folder / "a.nc");
  EXPECT_EQ(file.read_all(file.variable("v")), (std::vector<double>{1, 2, 3, 4}));
}

TEST(NetcdfClassicHeader, ClaimsThatTheFileCannotHoldAreRefused) {
  const TemporaryFolder folder;
  EXPECT_HAS(opening_error(folder, small_file(5)), "lies at bytes 100 to 110, but the file ends at byte 108");
  EXPECT_HAS(opening_error(folder, small_file(0xFFFFFFF0)), "claims more than");
  EXPECT_HAS(opening_error(folder, small_file(4, 9)), "no type 9");
  EXPECT_HAS(opening_error(folder, small_file(4, 0)), "no type 0");
  EXPECT_HAS(opening_error(folder, small_file(4, 3, 0xFFFFFFFF)), "it is truncated");
  EXPECT_HAS(opening_error(folder, {'C', 'D', 'F', 3, 0, 0, 0, 0}), "CDF and 1, 2 or 5");
  EXPECT_HAS(opening_error(folder, {'C', 'D', 'F'}), "it has 3 bytes");
  EXPECT_HAS(opening_error(folder, Header(1).number(0).number(0x0A).number(0x7FFFFFFF).bytes), "do not fit the file");
  EXPECT_HAS(opening_error(folder, Header(5).number(0, 8).number(0x0A).number(1ull << 62, 8).bytes),
             "do not fit the file");
  EXPECT_HAS(opening_error(folder, Header(5).number(0, 8).number(0x0A).number(~0ull, 8).bytes), "damaged");
  EXPECT_HAS(opening_error(folder, Header(1).number(0).number(0x0A).number(1).number(0x7FFFFFFF).number(0).bytes),
             "wants 2147483647 bytes more");
  EXPECT_HAS(opening_error(folder, Header(1).number(0).number(0x0B).number(1).number(0).number(0).bytes),
             "a list of dimensions begins with 11");
  Header two(1);
  two.number(0).number(0x0A).number(2).name("a").number(0).name("b").number(0).number(0).number(0);
  EXPECT_HAS(opening_error(folder, two.bytes), "two dimensions are unlimited");
}

TEST(NetcdfClassicHeader, RecordsThatAreNotThere) {
  const TemporaryFolder folder;
  const auto file_of = [](std::uint64_t records, int rank, std::uint64_t second) {
    Header header(1);
    header.number(records).number(0x0A).number(2).name("time").number(0).name("x").number(2).number(0).number(0);
    header.number(0x0B).number(1).name("v").number(static_cast<std::uint64_t>(rank)).number(0);
    if (rank == 2) header.number(second);
    header.number(0).number(0).number(4).number(8).number(120);
    header.bytes.resize(120 + 3 * 8, 0);
    return header.bytes;
  };
  write_bytes(folder / "a.nc", file_of(3, 2, 1));
  EXPECT_EQ(NetcdfFile(folder / "a.nc").variable("v").shape, (Shape{3, 2}));
  EXPECT_HAS(opening_error(folder, file_of(4, 2, 1)), "it is truncated");
  EXPECT_HAS(opening_error(folder, file_of(0xFFFFFFFE, 2, 1)), "4294967294 records of 8 bytes were written");
  EXPECT_HAS(opening_error(folder, file_of(3, 2, 0)), "the unlimited dimension in another place");
  EXPECT_HAS(opening_error(folder, file_of(3, 2, 7)), "has a dimension 7 of 2");
  EXPECT_HAS(opening_error(folder, file_of(3, 40, 1)), "has 40 axes");
}

TEST(NetcdfClassicHeader, EveryTruncationAndEveryChangedByteIsReadOrRefused) {
  const TemporaryFolder folder;
  const FileBytes whole = small_file();
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(
        opening_error(folder, FileBytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))).empty());
  int read = 0, refused = 0;
  for (std::size_t at = 0; at < 100; ++at)
    for (const int value : {0x00, 0x01, 0x0A, 0x7F, 0x80, 0xFF}) {
      FileBytes changed = whole;
      changed[at] = static_cast<std::uint8_t>(value);
      write_bytes(folder / "a.nc", changed);
      try {
        const NetcdfFile file(folder / "a.nc");
        for (const NetcdfVariable& variable : file.variables())
          if (variable.is_numbers()) file.read_all(variable);
        ++read;
      } catch (const Error&) {
        ++refused;  // any other exception fails the test
      }
    }
  EXPECT_GT(read, 50);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace isobar::hdf5
