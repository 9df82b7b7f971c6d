#include "isobar/hdf5/netcdf_file.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <thread>

#include "isobar/hdf5/hdf5_file.hpp"
#include "isobar/hdf5/netcdf_header.hpp"

#include "tests/expect_error.hpp"
#include "tests/files/made_files.hpp"
#include "tests/files/public_data.hpp"
#include "tests/hdf5/made_climate.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::hdf5 {
namespace {

using namespace isobar::tests;

constexpr std::array modes{0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};

// Fixed and growing variables of every type a mode has; in the classic kinds the growing ones are interleaved, and
// their sizes in a record are not multiples of four bytes.
void make_everything(const std::filesystem::path& path, int mode) {
  const bool wide = mode == NC_64BIT_DATA || mode == NC_NETCDF4;
  std::vector<nc_type> types{NC_BYTE, NC_SHORT, NC_INT, NC_FLOAT, NC_DOUBLE};
  if (wide) types.insert(types.end(), {NC_UBYTE, NC_USHORT, NC_UINT, NC_INT64, NC_UINT64});
  std::vector<int> fixed, growing;
  int single = 0, text = 0;
  make_netcdf(
      path, mode,
      [&](int id) {
        const int time = add_dimension(id, "time", NC_UNLIMITED), lat = add_dimension(id, "lat", 3),
                  lon = add_dimension(id, "lon", 5), letters = add_dimension(id, "letters", 7);
        for (const nc_type type : types) {
          fixed.push_back(add_variable(id, ("fixed" + std::to_string(type)).c_str(), type, {lat, lon}));
          growing.push_back(add_variable(id, ("growing" + std::to_string(type)).c_str(), type, {time, lat, lon}));
        }
        single = add_variable(id, "single", NC_DOUBLE, {});
        text = add_variable(id, "text", NC_CHAR, {lat, letters});
        set_text(id, single, "units", "hours since 1900-01-01 00:00:0.0");
        set_text(id, NC_GLOBAL, "title", "every type");
        set_text(id, NC_GLOBAL, "empty", "");
        for (const nc_type type : types)
          set_numbers(id, fixed[0], ("list" + std::to_string(type)).c_str(), type, {1, 2, 100});
      },
      [&](int id) {
        for (std::size_t v = 0; v < fixed.size(); ++v) {
          const bool is_signed = types[v] != NC_UBYTE && types[v] != NC_USHORT && types[v] < NC_UINT;
          put(id, fixed[v], {3, 5}, [&](std::size_t i) { return static_cast<double>(i) * 8 - (is_signed ? 60 : 0); });
          put(id, growing[v], {4, 3, 5}, [&](std::size_t i) { return static_cast<double>((i * 37 + v) % 127); });
        }
        put(id, single, {}, [](std::size_t) { return 0.1; });
        nc(nc_put_var_text(id, text, "abcdefgABCDEFG1234567"));
      });
}

TEST(NetcdfFile, EveryKindAndTypeIsReadAsTheLibraryReadsIt) {
  const TemporaryFolder folder;
  for (const int mode : modes) {
    SCOPED_TRACE(mode);
    make_everything(folder / "a.nc", mode);
    EXPECT_EQ(expect_as_library(folder / "a.nc"), mode == NC_64BIT_DATA || mode == NC_NETCDF4 ? 21 : 11);
    const NetcdfFile file(folder / "a.nc");
    ASSERT_EQ(file.dimensions().size(), 4u);
    EXPECT_EQ(file.dimensions()[0].name, "time");
    EXPECT_EQ(file.dimensions()[0].size, 4);
    EXPECT_TRUE(file.dimensions()[0].unlimited);
    EXPECT_FALSE(file.dimensions()[1].unlimited);
    EXPECT_EQ(file.attributes()[0].text, "every type");
    EXPECT_EQ(file.attributes()[1].text, "");
    EXPECT_EQ(file.variable("single").text("units"), "hours since 1900-01-01 00:00:0.0");
    for (const NetcdfAttribute& list : file.variable("fixed1").attributes)
      EXPECT_EQ(list.numbers, (std::vector<double>{1, 2, 100})) << list.name;
    EXPECT_HAS(error_of([&] { file.read_all(file.variable("text")); }), "holds no numbers but char");
    EXPECT_HAS(error_of([&] { file.variable("singel"); }), "did you mean 'single'");
  }
}

TEST(NetcdfFile, OneVariableInRecordsIsNotPadded) {
  const TemporaryFolder folder;
  for (const nc_type type : {NC_BYTE, NC_SHORT, NC_INT})
    for (const int mode : {0, NC_64BIT_OFFSET, NC_64BIT_DATA}) {
      int grows = 0, still = 0;
      make_netcdf(
          folder / "a.nc", mode,
          [&](int id) {
            const int time = add_dimension(id, "time", NC_UNLIMITED), x = add_dimension(id, "x", 3);
            grows = add_variable(id, "grows", type, {time, x});
            still = add_variable(id, "still", NC_BYTE, {x});
          },
          [&](int id) {
            put(id, grows, {6, 3}, [](std::size_t i) { return static_cast<double>(i) + 1; });
            put(id, still, {3}, [](std::size_t i) { return static_cast<double>(i) + 50; });
          });
      EXPECT_EQ(expect_as_library(folder / "a.nc"), 2) << type << " " << mode;
      const NetcdfFile file(folder / "a.nc");
      EXPECT_EQ(file.read_all(file.variable("grows"))[17], 18);
    }
}

TEST(NetcdfFile, RecordsOfAStreamAreCountedByTheSizeOfTheFile) {
  const TemporaryFolder folder;
  for (const int mode : {0, NC_64BIT_DATA}) {
    make_everything(folder / "a.nc", mode);
    std::fstream bytes(folder / "a.nc", std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(4);
    for (int i = 0; i < (mode == 0 ? 4 : 8); ++i) bytes.put('\xFF');
    bytes.close();
    const NetcdfFile file(folder / "a.nc");
    EXPECT_EQ(file.dimensions()[0].size, 4);
    EXPECT_EQ(file.read_all(file.variable("growing3")).size(), 60u);
  }
}

TEST(NetcdfFile, GroupsOddCoordinatesAndShortVariables) {
  const TemporaryFolder folder;
  int inner = 0, odd = 0, table = 0, brief = 0, full = 0, group = 0, below = 0, own = 0;
  make_netcdf(
      folder / "a.nc", NC_NETCDF4,
      [&](int id) {
        const int time = add_dimension(id, "time", NC_UNLIMITED), x = add_dimension(id, "x", 4);
        full = add_variable(id, "full", NC_FLOAT, {time, x});
        brief = add_variable(id, "brief", NC_SHORT, {time, x});  // written for fewer times
        odd = add_variable(id, "x", NC_INT, {time});             // named like a dimension, but not its coordinate
        table = add_variable(id, "time", NC_DOUBLE, {time, x});  // a coordinate with two axes
        const char* words[] = {"one", "two words"};
        nc(nc_put_att_string(id, full, "words", 2, words));
        nc(nc_def_grp(id, "forecast", &group));
        nc(nc_def_grp(group, "later", &below));
        const int y = add_dimension(below, "y", 2);
        inner = add_variable(below, "T", NC_DOUBLE, {y, x});  // with a dimension of the parent group
        own = add_variable(below, "y", NC_FLOAT, {y});
        set_text(below, inner, "units", "K");
      },
      [&](int id) {
        const auto count = [](std::size_t i) { return static_cast<double>(i) + 1; };
        put(id, full, {5, 4}, count);
        put(id, brief, {2, 4}, count);
        put(id, odd, {5}, count);
        put(id, table, {5, 4}, count);
        put(below, inner, {2, 4}, count);
        put(below, own, {2}, count);
      });
  EXPECT_EQ(expect_as_library(folder / "a.nc"), 6);
  const NetcdfFile file(folder / "a.nc");
  EXPECT_EQ(file.variable("forecast/later/T").text("units"), "K");
  EXPECT_EQ(file.variable("full").text("words"), "one, two words");
  const std::vector<double> values = file.read_all(file.variable("brief"));
  EXPECT_EQ(values[7], 8);
  EXPECT_TRUE(std::isnan(values[8]));
}

TEST(NetcdfFile, Hdf5WithoutDimensionsGetsThemByExtents) {
  const TemporaryFolder folder;
  Hdf5File made = Hdf5File::create(folder / "plain.h5");
  made.write<float>("a", Shape{2, 3}, std::vector<float>(6, 1.5f));
  made.write<std::int16_t>("b/c", Shape{3, 3}, std::vector<std::int16_t>(9, 4));
  made.write<double>("b/d", Shape{3}, std::vector<double>{1, 2, 3});
  made.commit(false);
  EXPECT_EQ(expect_as_library(folder / "plain.h5"), 3);
  const NetcdfFile file(folder / "plain.h5");
  EXPECT_EQ(file.read_all(file.variable("b/d")), (std::vector<double>{1, 2, 3}));
}

TEST(NetcdfFile, ManyThreadsReadOneFile) {
  const TemporaryFolder folder;
  for (const int mode : modes) {
    make_everything(folder / "a.nc", mode);
    const NetcdfFile file(folder / "a.nc");
    std::vector<std::vector<double>> wanted;
    for (const NetcdfVariable& variable : file.variables())
      wanted.push_back(variable.is_numbers() ? file.read_all(variable) : std::vector<double>{});
    for (std::size_t count = 1; count <= 4; ++count) {
      std::vector<int> wrong(count, 0);
      {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < count; ++t)
          threads.emplace_back([&, t] {
            for (std::size_t k = 0; k < 3 * wanted.size(); ++k) {
              const std::size_t v = (k + t) % wanted.size();
              if (!wanted[v].empty()) wrong[t] += file.read_all(file.variables()[v]) != wanted[v];
            }
          });
      }
      EXPECT_EQ(wrong, std::vector<int>(count, 0)) << mode;
    }
  }
}

// The numbers after "name =" in the output of ncdump.
std::vector<double> dumped(const std::filesystem::path& path, const std::string& name) {
  const std::string command = "ncdump -p 9,17 -v " + name + " '" + path.string() + "'";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  for (int c; pipe && (c = std::fgetc(pipe.get())) != EOF;) text += static_cast<char>(c);
  text.erase(0, text.find("data:"));
  text.erase(0, text.find(name + " =") + name.size() + 2);
  std::vector<double> numbers;
  for (const char* at = text.c_str(); *at && *at != ';';) {
    char* end = nullptr;
    const double number = std::strtod(at, &end);
    if (end == at) ++at;
    else numbers.push_back(number), at = end;
  }
  return numbers;
}

TEST(NetcdfFile, NcdumpPrintsTheSameNumbers) {
  ASSERT_EQ(std::system("ncdump 2>&1 | grep -q 'netcdf library version'"), 0) << "needs the Debian package netcdf-bin";
  const TemporaryFolder folder;
  for (const int mode : modes) {
    make_everything(folder / "a.nc", mode);
    const NetcdfFile file(folder / "a.nc");
    for (const std::string name : {"growing3", "growing5", "growing6", "fixed1", "single"})
      EXPECT_EQ(file.read_all(file.variable(name)), dumped(folder / "a.nc", name)) << name << " " << mode;
  }
}

void check_climate(const std::filesystem::path& data) {
  int files = 0, variables = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data)) {
    if (entry.path().extension() != ".nc") continue;
    ++files;
    variables += expect_as_library(entry.path());
  }
  EXPECT_GE(files, 12);
  std::cout << files << " files, " << variables << " variables of numbers equal what libnetcdf reads\n";
}

TEST(NetcdfFile, MadeFilesAreReadAsTheLibraryReadsThem) {
  const TemporaryFolder folder;
  make_climate(folder.path());
  check_climate(folder.path());
}

TEST(NetcdfFile, PublicFilesAreReadAsTheLibraryReadsThem) {
  const std::filesystem::path data = public_data("climate_nc");
  if (data.empty()) GTEST_SKIP() << "the public files are not beside this tree";
  check_climate(data);
}

}  // namespace
}  // namespace isobar::hdf5
