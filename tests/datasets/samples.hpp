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

}  // namespace isobar::tests
