// What the tests of this folder share: a temporary folder of their own, and reading samples into vectors.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/data/dataset.hpp"

#include "tests/temporary_folder.hpp"

namespace isobar::data {

using tests::TemporaryFolder;

/// The fields of one sample, one vector each.
inline std::vector<std::vector<float>> read_sample(const Dataset& dataset, std::int64_t index) {
  std::vector<std::vector<float>> fields;
  for (const Field& field : dataset.fields()) fields.emplace_back(static_cast<std::size_t>(field.shape.count()), -7.0f);
  const std::vector<std::span<float>> out(fields.begin(), fields.end());
  dataset.read(index, out);
  return fields;
}

/// The message of the Error that `action` throws; "" and a failed test when it throws none.
template <class F>
std::string error_of(F action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace isobar::data

/// Checks that a message holds a text, and shows the message when it does not.
#define EXPECT_HAS(message, part) EXPECT_TRUE(isobar::data::contains(message, part)) << "message: " << (message)
