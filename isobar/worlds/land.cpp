#include "isobar/worlds/land.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "isobar/base/random.hpp"

namespace isobar::worlds {
namespace {

struct Corner {
  float east, north;  // degrees
};

// Closed outlines; longitudes from -180, beyond 180 where a continent crosses the date line.
constexpr Corner north_america[] = {{-168, 66}, {-156, 71}, {-128, 70}, {-110, 68}, {-95, 72},  {-82, 68},  {-94, 59},
                                    {-92, 57},  {-82, 55},  {-79, 51},  {-77, 57},  {-78, 62},  {-65, 60},  {-56, 52},
                                    {-66, 50},  {-60, 46},  {-70, 43},  {-74, 40},  {-76, 35},  {-81, 31},  {-80, 25},
                                    {-83, 29},  {-90, 30},  {-97, 27},  {-97, 22},  {-94, 18},  {-91, 19},  {-87, 21},
                                    {-88, 16},  {-83, 15},  {-83, 10},  {-79, 9},   {-80, 7},   {-86, 12},  {-94, 16},
                                    {-105, 20}, {-109, 25}, {-113, 31}, {-110, 23}, {-115, 29}, {-118, 34}, {-124, 40},
                                    {-124, 48}, {-133, 56}, {-147, 61}, {-158, 56}, {-163, 55}, {-157, 59}, {-165, 62}};
constexpr Corner baffin[] = {{-90, 74}, {-78, 73}, {-62, 66}, {-72, 63}, {-88, 70}};
constexpr Corner ellesmere[] = {{-90, 77}, {-65, 82}, {-80, 83}, {-95, 80}};
constexpr Corner greenland[] = {{-55, 82}, {-30, 83}, {-18, 80}, {-20, 72}, {-33, 68},
                                {-43, 60}, {-52, 65}, {-55, 70}, {-68, 76}};
constexpr Corner cuba[] = {{-84, 22}, {-77, 21}, {-74, 20}, {-78, 20}};
constexpr Corner hispaniola[] = {{-74, 20}, {-68, 18.5}, {-74, 18}};
constexpr Corner south_america[] = {{-78, 8},   {-72, 12},  {-62, 10},  {-51, 4},   {-44, -2},  {-35, -6},  {-39, -15},
                                    {-41, -22}, {-48, -26}, {-54, -34}, {-58, -38}, {-65, -42}, {-68, -50}, {-68, -55},
                                    {-74, -52}, {-73, -42}, {-71, -30}, {-70, -18}, {-76, -14}, {-81, -5},  {-78, 2}};
constexpr Corner africa[] = {{-6, 36}, {10, 37},  {11, 33},  {20, 32},  {32, 31},  {37, 21},  {43, 12},  {51, 12},
                             {41, -2}, {40, -15}, {35, -20}, {32, -28}, {26, -34}, {18, -34}, {12, -18}, {13, -8},
                             {9, 1},   {9, 4},    {-8, 4.5}, {-13, 9},  {-17, 15}, {-16, 22}, {-10, 30}};
constexpr Corner eurasia[] = {
    {-9, 43},  {-9, 37},  {-2, 37},  {3, 42},   {8, 44},   {16, 38},  {18, 40},  {13, 45},   {20, 40},  {23, 37},
    {26, 41},  {28, 37},  {36, 36},  {35, 31},  {35, 28},  {39, 21},  {43, 13},  {52, 16},   {59, 22},  {51, 25},
    {48, 30},  {57, 26},  {67, 25},  {73, 19},  {77, 8},   {80, 14},  {87, 21},  {92, 22},   {98, 16},  {99, 8},
    {103, 1},  {104, 3},  {101, 13}, {105, 9},  {109, 12}, {106, 20}, {115, 23}, {122, 30},  {119, 37}, {122, 40},
    {126, 35}, {129, 37}, {128, 40}, {135, 44}, {141, 52}, {137, 54}, {155, 60}, {157, 51},  {163, 57}, {170, 60},
    {180, 65}, {190, 66}, {180, 69}, {160, 70}, {140, 73}, {113, 74}, {104, 77}, {80, 73},   {68, 69},  {55, 68},
    {41, 67},  {30, 70},  {20, 70},  {12, 65},  {5, 61},   {7, 58},   {11, 59},  {13, 55.5}, {18, 60},  {22, 66},
    {24, 60},  {20, 54},  {9, 54},   {4, 52},   {-4, 48},  {-1, 45},  {-1, 43.5}};
constexpr Corner britain[] = {{-5, 50}, {1, 51}, {0, 54}, {-3, 58}, {-6, 56}};
constexpr Corner iceland[] = {{-24, 65.5}, {-15, 66}, {-14, 64.5}, {-20, 63.5}};
constexpr Corner japan[] = {{130, 32}, {136, 34}, {141, 36}, {142, 40}, {145, 43}, {141, 45}, {140, 40}, {132, 35}};
constexpr Corner madagascar[] = {{49, -12}, {50, -16}, {47, -25}, {44, -23}, {44, -17}};
constexpr Corner sumatra[] = {{95, 5.5}, {104, -2}, {106, -6}, {101, -3}};
constexpr Corner borneo[] = {{109, 1.5}, {117, 7}, {119, 5}, {116, -4}, {110, -3}};
constexpr Corner java[] = {{105, -6}, {114, -7}, {114, -8.5}, {106, -7.5}};
constexpr Corner sulawesi[] = {{120, 1}, {125, 1.5}, {122, -4}, {119.5, -5}};
constexpr Corner philippines[] = {{120.5, 18.5}, {122, 17}, {126, 8}, {122, 7}, {120, 14}};
constexpr Corner new_guinea[] = {{131, -1}, {138, -2}, {147, -6}, {150, -10}, {143, -9}, {138, -8}, {133, -4}};
constexpr Corner australia[] = {{114, -22}, {122, -18}, {130, -12}, {136, -12}, {136, -15}, {140, -17},
                                {142, -11}, {146, -19}, {153, -26}, {150, -37}, {146, -39}, {140, -38},
                                {138, -33}, {131, -31}, {124, -33}, {115, -34}};
constexpr Corner new_zealand[] = {{173, -35}, {178, -38}, {174, -41}, {171, -44},
                                  {168, -47}, {167, -45}, {172, -41}, {174, -39}};
constexpr Corner antarctica[] = {{-180, -78}, {-150, -76}, {-120, -73}, {-100, -72}, {-75, -72}, {-65, -66},
                                 {-57, -63},  {-62, -70},  {-60, -75},  {-40, -78},  {-20, -73}, {0, -70},
                                 {40, -69},   {55, -66},   {90, -66},   {110, -66},  {140, -66}, {160, -70},
                                 {170, -72},  {165, -78},  {180, -78},  {180, -91},  {-180, -91}};
constexpr std::span<const Corner> outlines[] = {north_america, baffin,    ellesmere,   greenland, cuba,     hispaniola,
                                                south_america, africa,    eurasia,     britain,   iceland,  japan,
                                                madagascar,    sumatra,   borneo,      java,      sulawesi, philippines,
                                                new_guinea,    australia, new_zealand, antarctica};

// A hill: centre, half widths in degrees, height in metres.
struct Hill {
  float east, north, wide, high, metres;
};
constexpr Hill hills[] = {
    {88, 33, 13, 4.5, 4700}, {-109, 41, 7, 9, 1900},  {-125, 54, 7, 6, 1000},   {-102, 22, 4, 5, 1700},
    {-68, -19, 3, 7, 3600},  {-77, -5, 2.5, 8, 2600}, {-70, -35, 1.5, 8, 2300}, {-74, 5, 2.5, 5, 1700},
    {-41, 73, 9, 7, 2800},   {80, -82, 80, 9, 3200},  {-110, -81, 40, 6, 1500}, {39, 9, 4, 4, 1900},
    {31, -3, 4, 7, 1200},    {26, -27, 6, 6, 1150},   {55, 32, 9, 4.5, 1300},   {42, 39.5, 6, 2.5, 1500},
    {98, 48, 11, 5, 1400},   {140, 64, 13, 5, 700},   {9, 62, 4, 4, 800},       {10, 46.5, 4, 1.3, 1400},
    {-4, 32, 5, 2, 1100},    {-46, -18, 6, 6, 600},   {149, -30, 2, 8, 450},    {142, -5, 5, 1.5, 1700},
    {17, 15, 9, 8, 400},     {60, 58, 2.5, 7, 450},   {77, 16, 3, 6, 500}};

// Adds the corners between a and b, including b: midpoints are recursively displaced by a fraction of the distance,
// because coasts are rough on every scale.
void add_rough(std::vector<Corner>& outline, Corner a, Corner b, int level, const Random& random, std::uint64_t path) {
  const float x = b.east - a.east, y = b.north - a.north;
  // The edges that close Antarctica at the date line and the pole are not coast.
  const bool coast = std::min(a.north, b.north) > -90 && std::abs(x) < 60;
  if (level == 0 || !coast) {
    outline.push_back(b);
    return;
  }
  const auto aside = static_cast<float>(0.34 * (random.uniform(path) - 0.5));
  const Corner middle{a.east + x / 2 - aside * y, a.north + y / 2 + aside * x};
  add_rough(outline, a, middle, level - 1, random, 2 * path);
  add_rough(outline, middle, b, level - 1, random, 2 * path + 1);
}

// The outlines with rough coasts; they do not depend on the seed.
const std::vector<std::vector<Corner>>& rough_outlines() {
  static const std::vector<std::vector<Corner>> all = [] {
    std::vector<std::vector<Corner>> rough;
    for (const auto outline : outlines) {
      std::vector<Corner>& corners = rough.emplace_back();
      for (std::size_t i = 0; i < outline.size(); ++i)
        add_rough(corners, outline[i], outline[(i + 1) % outline.size()], 3, Random(rough.size(), i), 1);
    }
    return rough;
  }();
  return all;
}

// Longitudes, ascending, where an outline crosses a latitude: land lies between every other pair.
std::vector<double> crossings(const std::vector<Corner>& outline, double latitude) {
  std::vector<double> east;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Corner a = outline[i], b = outline[(i + 1) % outline.size()];
    if ((a.north <= latitude) == (b.north <= latitude)) continue;
    east.push_back(a.east + (latitude - a.north) / (b.north - a.north) * (b.east - a.east));
  }
  std::ranges::sort(east);
  return east;
}

double difference(double a, double b) { return std::remainder(a - b, 360.0); }

}  // namespace

bool is_land(double latitude, double longitude) {
  for (const auto& outline : rough_outlines()) {
    const std::vector<double> east = crossings(outline, latitude);
    for (std::size_t i = 0; i + 1 < east.size(); i += 2) {
      const double along = longitude - east[i] - 360.0 * std::floor((longitude - east[i]) / 360.0);
      if (along < east[i + 1] - east[i]) return true;
    }
  }
  return false;
}

Land make_land(const SphereGrid& grid) {
  Land land{Plane(grid.cells()), Plane(grid.cells())};
  // Several lines through each row, with exact end points, give smooth coasts on any grid.
  constexpr int lines = 4;
  for (int row = 0; row < grid.height; ++row) {
    float* out = land.fraction.data() + grid.cell(row, 0);
    for (int line = 0; line < lines; ++line)
      for (const auto& outline : rough_outlines()) {
        const double latitude = grid.latitude(row) + ((line + 0.5) / lines - 0.5) * grid.row_step();
        const std::vector<double> east = crossings(outline, latitude);
        for (std::size_t i = 0; i + 1 < east.size(); i += 2) {
          const double begin = east[i] / grid.column_step() + 0.5, end = east[i + 1] / grid.column_step() + 0.5;
          for (auto c = static_cast<int>(std::floor(begin)); c < end; ++c) {
            const double part = std::min<double>(end, c + 1) - std::max<double>(begin, c);
            const int column = ((c % grid.width) + grid.width) % grid.width;
            out[column] = std::min(1.0f, out[column] + static_cast<float>(part) / lines);
          }
        }
      }
    // Meridians meet at the pole, and so must the sides of a hill.
    struct Slice {
      double east, wide, metres;
    };
    std::vector<Slice> slices;
    const double latitude = grid.latitude(row), cosine = std::max(1e-6, std::cos(latitude * degree));
    for (const Hill& hill : hills) {
      const double y = (latitude - hill.north) / hill.high;
      if (y * y < 12)
        slices.push_back(
            {hill.east, hill.wide * std::cos(hill.north * degree) / cosine, hill.metres * std::exp(-y * y)});
    }
    for (int column = 0; column < grid.width; ++column) {
      const std::size_t cell = grid.cell(row, column);
      if (land.fraction[cell] == 0) continue;
      double metres = 120;
      for (const Slice& slice : slices) {
        const double x = difference(grid.longitude(column), slice.east) / slice.wide;
        if (x * x < 12) metres += slice.metres * std::exp(-x * x);
      }
      land.height[cell] = static_cast<float>(metres) * land.fraction[cell];
    }
  }
  return land;
}

}  // namespace isobar::worlds
