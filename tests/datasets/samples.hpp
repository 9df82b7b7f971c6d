// Shared by tests of data: a temporary folder for each, and reading samples into vectors.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/datasets/dataset.hpp"

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::tests {

/// The fields of one sample, one vector each.
inline std::vector<std::vector<float>> read_sample(const datasets::Dataset& dataset, std::int64_t index) {
  std::vector<std::vector<float>> fields;
  for (const datasets::Field& field : dataset.fields())
    fields.emplace_back(static_cast<std::size_t>(field.shape.count()), -7.0f);
  const std::vector<std::span<float>> out(fields.begin(), fields.end());
  dataset.read(index, out);
  return fields;
}

/// A region of one sample, as it is read.
inline std::vector<std::vector<float>> read_region(const datasets::Dataset& dataset, std::int64_t index,
                                                   const datasets::Region& region, const datasets::Reading& how = {}) {
  std::vector<std::vector<float>> fields;
  for (const Box& box : region) fields.emplace_back(static_cast<std::size_t>(box.count()), -7.0f);
  const std::vector<std::span<float>> out(fields.begin(), fields.end());
  dataset.read_region(how, index, region, out);
  return fields;
}

/// The same region of a whole sample that was read.
inline std::vector<std::vector<float>> cut_out(const datasets::Dataset& dataset,
                                               const std::vector<std::vector<float>>& sample,
                                               const datasets::Region& region) {
  std::vector<std::vector<float>> parts;
  for (std::size_t f = 0; f < region.size(); ++f) {
    parts.emplace_back(static_cast<std::size_t>(region[f].count()), -8.0f);
    copy_box(Box::whole(dataset.fields()[f].shape), sample[f], region[f], parts[f]);
  }
  return parts;
}

}  // namespace isobar::tests
