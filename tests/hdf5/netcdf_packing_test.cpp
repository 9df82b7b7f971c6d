#include "isobar/hdf5/netcdf_packing.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace isobar::hdf5 {
namespace {

constexpr files::Stored int8{files::Stored::Kind::whole, 1, true, false},
    uint8{files::Stored::Kind::whole, 1, false, false}, int16{files::Stored::Kind::whole, 2, true, false},
    int32{files::Stored::Kind::whole, 4, true, false}, float32{files::Stored::Kind::real, 4, true, false},
    float64{files::Stored::Kind::real, 8, true, false};

struct Given {
  std::string key;
  files::Stored stored;
  std::vector<double> numbers;
};

NetcdfVariable variable(const files::Stored& stored, const std::vector<Given>& given, const std::string& sign = "") {
  NetcdfVariable made;
  made.name = "v";
  made.stored = stored;
  for (const Given& one : given) {
    NetcdfAttribute attribute;
    attribute.name = one.key, attribute.stored = one.stored, attribute.numbers = one.numbers;
    made.attributes.push_back(attribute);
  }
  if (!sign.empty()) {
    NetcdfAttribute attribute;
    attribute.name = "_Unsigned", attribute.text = sign;
    made.attributes.push_back(attribute);
  }
  return made;
}

constexpr double gone = -777;

template <class T>
std::vector<T> unpacked(const NetcdfVariable& of, std::vector<T> numbers) {
  NetcdfPacking(of).unpack(std::span(numbers), static_cast<T>(gone));
  return numbers;
}

TEST(NetcdfPacking, ScaleAndOffsetOfEitherSign) {
  const auto packed = variable(int16, {{"scale_factor", float64, {-0.5}},
                                       {"add_offset", float64, {100}},
                                       {"_FillValue", int16, {-32767}},
                                       {"missing_value", int16, {7}}});
  EXPECT_EQ(unpacked<float>(packed, {0, 10, -10, -32767, 7, -32768}),
            (std::vector<float>{100, 95, 105, gone, gone, 16484}));
  EXPECT_EQ(unpacked<double>(packed, {3}), (std::vector<double>{98.5}));
  // ERA-Interim rewritten by xarray: the fill value is NaN, so the only missing short is the library's own fill value.
  const auto nan_fill = variable(int16, {{"scale_factor", float64, {2}}, {"_FillValue", float64, {NAN}}});
  EXPECT_EQ(unpacked<float>(nan_fill, {-32767, 4}), (std::vector<float>{-65534, 8}));
}

TEST(NetcdfPacking, FillOfTheLibraryIsMissingButNotForBytes) {
  EXPECT_EQ(unpacked<float>(variable(float32, {}), {9.96921e36f, 1, NAN}), (std::vector<float>{gone, 1, gone}));
  EXPECT_EQ(unpacked<double>(variable(float64, {}), {9.969209968386869e36, 2}), (std::vector<double>{gone, 2}));
  EXPECT_EQ(unpacked<float>(variable(int16, {}), {-32767, -32766}), (std::vector<float>{gone, -32766}));
  EXPECT_EQ(unpacked<double>(variable(int32, {}), {-2147483647, 5}), (std::vector<double>{gone, 5}));
  EXPECT_EQ(unpacked<float>(variable(int8, {}), {-127, -128}), (std::vector<float>{-127, -128}));
  // An explicit fill value replaces it; as a double it still means the float that was stored.
  EXPECT_EQ(unpacked<float>(variable(float32, {{"_FillValue", float64, {1e20}}}), {1e20f, 9.96921e36f}),
            (std::vector<float>{gone, 9.96921e36f}));
}

TEST(NetcdfPacking, ManyMissingValues) {
  const auto many = variable(int16, {{"_FillValue", int16, {1}}, {"missing_value", int16, {2, 3, 4}}});
  EXPECT_EQ(unpacked<float>(many, {0, 1, 2, 3, 4, 5}), (std::vector<float>{0, gone, gone, gone, gone, 5}));
}

TEST(NetcdfPacking, LimitsAreOfStoredNumbersUnlessTheirTypeSaysOtherwise) {
  const auto stored = variable(int16, {{"scale_factor", float64, {10}}, {"valid_range", int16, {1, 3}}});
  EXPECT_EQ(unpacked<float>(stored, {0, 1, 3, 4}), (std::vector<float>{gone, 10, 30, gone}));
  const auto values = variable(int16, {{"scale_factor", float64, {10}}, {"valid_range", float64, {15, 30}}});
  EXPECT_EQ(unpacked<float>(values, {1, 2, 3, 4}), (std::vector<float>{gone, 20, 30, gone}));
  const auto one_sided = variable(float32, {{"valid_min", float32, {0}}});
  EXPECT_EQ(unpacked<float>(one_sided, {-1, 0, 1e30f}), (std::vector<float>{gone, 0, 1e30f}));
  const auto upper = variable(float32, {{"valid_max", float32, {5}}});
  EXPECT_EQ(unpacked<float>(upper, {-1, 6}), (std::vector<float>{-1, gone}));
}

TEST(NetcdfPacking, SignsAreTurned) {
  const auto bytes = variable(int8, {{"_FillValue", int8, {-1}}, {"scale_factor", float32, {0.5}}}, "true");
  EXPECT_EQ(unpacked<float>(bytes, {-1, -2, 0, 127, -128}), (std::vector<float>{gone, 127, 0, 63.5, 64}));
  const auto back = variable(uint8, {{"_FillValue", uint8, {255}}}, "false");
  EXPECT_EQ(unpacked<float>(back, {255, 254, 127}), (std::vector<float>{gone, -2, 127}));
  const auto limited = variable(int8, {{"valid_range", int8, {0, -6}}}, "true");  // 0 to 250
  EXPECT_EQ(unpacked<float>(limited, {-7, -6, -5}), (std::vector<float>{249, 250, gone}));
}

TEST(NetcdfPacking, WhatFloatsHoldExactly) {
  EXPECT_TRUE(NetcdfPacking(variable(int16, {})).exact_as_float());
  EXPECT_TRUE(NetcdfPacking(variable(float32, {})).exact_as_float());
  EXPECT_FALSE(NetcdfPacking(variable(int32, {})).exact_as_float());
  EXPECT_FALSE(NetcdfPacking(variable(float64, {})).exact_as_float());
  EXPECT_EQ(NetcdfPacking(variable(int16, {{"scale_factor", float64, {0.5}}})).describe(), "packed: 0.5 * stored + 0");
  EXPECT_EQ(NetcdfPacking(variable(int16, {})).describe(), "");
}

}  // namespace
}  // namespace isobar::hdf5
