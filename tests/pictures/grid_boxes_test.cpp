#include "isobar/pictures/grid_boxes.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace isobar::pictures {
namespace {

// One row of four cells over an input of 32 x 64 pixels: cells of 32 x 16.
const Shape shape{1, 4, 8};

std::vector<float> empty_cells() {
  std::vector<float> cells(32);
  for (std::size_t c = 0; c < 4; ++c) cells[8 * c + 5] = 1;
  return cells;
}

TEST(GridBoxes, CentreInTheCellSizeInPowersOfTwo) {
  std::vector<float> cells = empty_cells();
  const float values[] = {0.25f, 0.5f, 1, -1, 1, 0, 0, 1};
  std::ranges::copy(values, cells.begin() + 16);
  const std::vector<GridBox> boxes = boxes_of(cells, shape, 32, 64, CellNumbers::truth);
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_DOUBLE_EQ(boxes[0].width, 32);   // 2^1 cells of 16
  EXPECT_DOUBLE_EQ(boxes[0].height, 16);  // 2^-1 cells of 32
  EXPECT_DOUBLE_EQ(boxes[0].left, (2 + 0.25) * 16 - 16);
  EXPECT_DOUBLE_EQ(boxes[0].top, 0.5 * 32 - 8);
  EXPECT_EQ(boxes[0].kind, 1);
}

TEST(GridBoxes, PredictionsByConfidence) {
  std::vector<float> cells = empty_cells();
  const float sure[] = {0.5f, 0.5f, 0, 0, 0.9f, 0.1f, 1, 0}, unsure[] = {0.5f, 0.5f, 0, 0, 0.6f, 0.4f, 0, 1};
  std::ranges::copy(unsure, cells.begin());
  std::ranges::copy(sure, cells.begin() + 24);
  std::vector<GridBox> boxes = boxes_of(cells, shape, 32, 64, CellNumbers::probabilities);
  ASSERT_EQ(boxes.size(), 2u);
  EXPECT_FLOAT_EQ(static_cast<float>(boxes[0].confidence), 0.9f);
  EXPECT_EQ(boxes[0].kind, 0);
  EXPECT_EQ(boxes_of(cells, shape, 32, 64, CellNumbers::probabilities, 0.8).size(), 1u);

  cells[4] = 2, cells[5] = 0;  // as logits
  boxes = boxes_of(cells, shape, 32, 64, CellNumbers::logits, 0.8);
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_NEAR(boxes[0].confidence, 1 / (1 + std::exp(-2.0)), 1e-9);
}

TEST(GridBoxes, TheSameThingTwiceIsOneBox) {
  std::vector<float> cells = empty_cells();
  const float left[] = {0.9f, 0.5f, 2, 0, 0.9f, 0.1f, 1, 0}, right[] = {0.1f, 0.5f, 2, 0, 0.8f, 0.2f, 1, 0};
  std::ranges::copy(left, cells.begin());
  std::ranges::copy(right, cells.begin() + 8);
  EXPECT_EQ(boxes_of(cells, shape, 32, 64, CellNumbers::probabilities).size(), 1u);
  cells[8 + 6] = 0, cells[8 + 7] = 1;  // of another class
  EXPECT_EQ(boxes_of(cells, shape, 32, 64, CellNumbers::probabilities).size(), 2u);
}

TEST(GridBoxes, WildNumbersAreHarmless) {
  std::vector<float> cells = empty_cells();
  const float values[] = {NAN, 0.5f, 1, 1, 0.9f, 0.1f, 1, 0}, huge[] = {0.5f, 0.5f, 1e30f, 500, 0.9f, 0.1f, 1, 0};
  std::ranges::copy(values, cells.begin());
  std::ranges::copy(huge, cells.begin() + 8);
  cells[16 + 4] = NAN;
  const std::vector<GridBox> boxes = boxes_of(cells, shape, 32, 64, CellNumbers::probabilities);
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_LE(boxes[0].width, 128);
}

TEST(GridBoxes, Overlap) {
  EXPECT_DOUBLE_EQ(overlap({0, 0, 2, 2}, {1, 0, 2, 2}), 2.0 / 6);
  EXPECT_DOUBLE_EQ(overlap({0, 0, 2, 2}, {2, 0, 2, 2}), 0);
}

}  // namespace
}  // namespace isobar::pictures
