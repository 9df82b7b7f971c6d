// Which pictures suit which network, what they contain, and that they never fail a run.
#include "isobar/pictures/pictures.hpp"

#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "isobar/disk/disk_warnings.hpp"

#include "tests/expect_error.hpp"
#include "tests/pictures/made_network.hpp"
#include "tests/train/small_job.hpp"

namespace isobar::pictures {
namespace {

using tests::TemporaryFolder;
using Kinds = std::vector<std::string>;

// The first number of x determines the class y; tests supply the predictions.
MadeSet digits(std::int64_t count, std::int64_t classes) {
  return {count, Shape{8, 8, 1}, Shape{1}, [=](std::int64_t sample, std::span<float> x, std::span<float> y) {
            y[0] = static_cast<float>(sample % classes);
            std::ranges::fill(x, y[0]);
          }};
}

TEST(Pictures, Regression) {
  const TemporaryFolder folder;
  std::vector<float> predictions, targets;
  for (int i = 0; i < 50; ++i)
    for (int c = 0; c < 2; ++c) {
      targets.push_back(static_cast<float>(i));
      predictions.push_back(static_cast<float>(i + (c == 0 ? 0 : i % 2)));
    }
  PictureRequest request;
  request.loss = Spec("mse");
  request.target_names = {"omega_m", "b<c"};
  request.target_shape = Shape{2};
  request.predictions = predictions, request.targets = targets;
  const std::vector<Picture> drawn = draw_pictures(folder / "pictures", request);
  EXPECT_EQ(kinds(drawn), (Kinds{"regression", "regression"}));
  EXPECT_NE(drawn[0].caption.find("50 test samples"), std::string::npos);
  EXPECT_NE(drawn[0].caption.find("omega_m 1.000"), std::string::npos);
  const std::string scatter = content(folder / "pictures/scatter.svg"),
                    errors = content(folder / "pictures/errors.svg");
  EXPECT_EQ(times(scatter, "<circle"), 100u);
  EXPECT_EQ(times(errors, "b&lt;c"), 1u);
  EXPECT_NE(errors.find("mean 0.5, deviation 0.5"), std::string::npos);
  const nlohmann::json list = nlohmann::json::parse(content(folder / "pictures/pictures.json"));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(
      list[1],
      (nlohmann::json{
          {"kind", "regression"}, {"title", drawn[1].title}, {"caption", drawn[1].caption}, {"file", "errors.svg"}}));

  // Binary labels are not numbers to compare, and too many numbers do not fit into a table.
  request.loss = Spec("sigmoid_cross_entropy");
  EXPECT_TRUE(draw_pictures(folder / "none", request).empty());
  request.loss = Spec("mse"), request.target_shape = Shape{50};
  EXPECT_TRUE(draw_pictures(folder / "none", request).empty());
  EXPECT_FALSE(std::filesystem::exists(folder / "none"));
}

TEST(Pictures, Classes) {
  const TemporaryFolder folder;
  MadeSet set = digits(30, 3);
  set.class_names = {"calm", "rain & hail", "storm"};
  MadeNetwork network(set, {"flatten", "dense(units=3)"}, "softmax_cross_entropy");
  std::vector<float> predictions, targets;
  for (std::int64_t i = 0; i < 30; ++i) {
    const std::int64_t truth = i % 3, said = i == 7 || i == 10 ? 2 : truth;  // 7 and 10 are rain
    targets.push_back(static_cast<float>(truth));
    for (std::int64_t c = 0; c < 3; ++c) predictions.push_back(c == said ? (i == 10 ? 9.0f : 2.0f) : 0.0f);
  }
  network.request.predictions = predictions, network.request.targets = targets;
  const std::vector<Picture> drawn = draw_pictures(folder.path(), network.request);
  EXPECT_EQ(kinds(drawn), (Kinds{"mistakes", "confusion"}));
  EXPECT_NE(drawn[0].caption.find("2 of 30 test samples are wrong"), std::string::npos);
  const std::string mistakes = content(folder / "mistakes.svg"), matrix = content(folder / "confusion.svg");
  EXPECT_EQ(times(mistakes, "<image"), 2u);
  EXPECT_EQ(times(mistakes, "true: rain &amp; hail"), 2u);
  EXPECT_LT(mistakes.find("sample 10"), mistakes.find("sample 7"));  // the more confident mistake first
  EXPECT_NE(drawn[1].caption.find("28 of 30 test samples are right (93.33 %)"), std::string::npos);
  EXPECT_EQ(times(matrix, ">20.0 %<"), 1u);
  EXPECT_EQ(times(matrix, ">100.0 %<"), 2u);
  EXPECT_EQ(times(matrix, "rain &amp; hail"), 2u);
}

TEST(Pictures, MistakesAreLookedForWhenPredictionsWereNotKept) {
  const TemporaryFolder folder;
  const MadeSet set = digits(1000, 3);
  MadeNetwork network(set, {"flatten", "dense(units=3)"}, "softmax_cross_entropy");
  network.request.most_passes = 6;
  const std::vector<Picture> drawn = draw_pictures(folder.path(), network.request);
  EXPECT_EQ(kinds(drawn), Kinds{"mistakes"});
  EXPECT_NE(drawn[0].caption.find("of 6 test samples"), std::string::npos);
}

TEST(Pictures, ManyClassesAreListedByPairs) {
  const TemporaryFolder folder;
  std::vector<float> predictions, targets;
  for (std::size_t i = 0; i < 100; ++i) {
    targets.push_back(static_cast<float>(i % 25));
    predictions.resize(25 * (i + 1), 0);
    predictions[25 * i + (i % 25 == 4 ? 5 : i % 25)] = 1;
  }
  PictureRequest request;
  request.loss = Spec("nll");
  request.target_shape = Shape{1};
  request.predictions = predictions, request.targets = targets;
  const std::vector<Picture> drawn = draw_pictures(folder.path(), request);
  EXPECT_EQ(kinds(drawn), Kinds{"confusion"});
  EXPECT_EQ(drawn[0].title, "Most confused classes");
  EXPECT_NE(content(folder / "confusion.svg").find("4 \u2192 5"), std::string::npos);
  EXPECT_NE(content(folder / "confusion.svg").find("100.0 %, 4"), std::string::npos);
}

// The prediction equals x: four channels as logits of four classes. Sample s has s + 1 wrong columns.
MadeSet frames(std::int64_t count) {
  const Shape x{12, 20, 4}, y{12, 20};
  MadeSet set(count, x, y, [](std::int64_t sample, std::span<float> to, std::span<float> truth) {
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const std::size_t column = i % 20;
      truth[i] = column >= 4 && column < 14 ? 1.0f : 0.0f;
      const bool marked = column >= 4 + static_cast<std::size_t>(sample) + 1 && column < 14;
      for (std::size_t c = 0; c < 4; ++c) to[4 * i + c] = c == (marked ? 1u : 0u) ? 3.0f : 0.0f;
    }
  });
  set.class_names = {"ground", "cyclone", "river", "front"};
  return set;
}

TEST(Pictures, MapsOfClasses) {
  const TemporaryFolder folder;
  const MadeSet set = frames(5);
  const MadeNetwork network(set, {"scale(by=1)"}, "softmax_cross_entropy");
  const std::vector<Picture> drawn = draw_pictures(folder.path(), network.request);
  EXPECT_EQ(kinds(drawn), Kinds{"maps"});
  const std::string maps = content(folder / "maps.svg");
  EXPECT_EQ(times(maps, "<image"), 9u);
  EXPECT_NE(maps.find("input: channel 0 of 4"), std::string::npos);
  EXPECT_NE(maps.find("Best: sample 0"), std::string::npos);
  EXPECT_NE(maps.find("Typical: sample 2"), std::string::npos);
  EXPECT_NE(maps.find("Worst: sample 4"), std::string::npos);
  EXPECT_NE(maps.find("cyclone 0.90"), std::string::npos);  // 9 of 10 columns
  EXPECT_NE(maps.find("cyclone 0.50"), std::string::npos);
  EXPECT_NE(drawn[0].caption.find("channel 0 of 4"), std::string::npos);
}

TEST(Pictures, MapsFromPredictionsThatWereKept) {
  const TemporaryFolder folder;
  const MadeSet set = frames(5);
  MadeNetwork network(set, {"scale(by=1)"}, "focal");
  std::vector<float> predictions(5 * 960), targets(5 * 240);
  for (std::size_t i = 0; i < 5; ++i)
    set.read(static_cast<std::int64_t>(i),
             std::vector<std::span<float>>{std::span(predictions).subspan(960 * (4 - i), 960),
                                           std::span(targets).subspan(240 * (4 - i), 240)});
  network.request.predictions = predictions, network.request.targets = targets;
  network.request.most_passes = 0;
  const std::vector<Picture> drawn = draw_pictures(folder.path(), network.request);
  EXPECT_EQ(kinds(drawn), (Kinds{"maps", "confusion"}));
  EXPECT_NE(content(folder / "maps.svg").find("Best: sample 4"), std::string::npos);  // turned round
}

TEST(Pictures, MapsThatFollowEachOtherMove) {
  const TemporaryFolder folder;
  MadeSet set = frames(9);
  set.place = [](std::int64_t i) {
    return "climate/data-2000-01-0" + std::to_string(1 + i / 8) + "-0" + std::to_string(i % 8) + "-1.h5";
  };
  const MadeNetwork network(set, {"scale(by=1)"}, "softmax_cross_entropy");
  const std::vector<Picture> drawn = draw_pictures(folder.path(), network.request);
  EXPECT_EQ(kinds(drawn), (Kinds{"maps", "weather"}));
  EXPECT_NE(drawn[1].caption.find("9 test samples over 24 hours"), std::string::npos);
  const std::string png = content(folder / "weather.png");
  EXPECT_EQ(times(png, "fcTL"), 9u);
  EXPECT_EQ(png.substr(1, 3), "PNG");
}

TEST(Pictures, BoxesOnAGrid) {
  const TemporaryFolder folder;
  // The first six channels of x are the cells, so that the truth is also predicted, with less confidence.
  MadeSet set(3, Shape{8, 8, 8}, Shape{8, 8, 8}, [](std::int64_t sample, std::span<float> x, std::span<float> y) {
    std::ranges::fill(y, 0.0f);
    for (std::size_t cell = 0; cell < 64; ++cell) y[8 * cell + 5] = 1;
    for (std::int64_t b = 0; b < sample; ++b) {
      float* cell = &y[8 * static_cast<std::size_t>(18 + 20 * b)];
      const float values[] = {0.5f, 0.5f, 1, 1, 1, 0, 0, 1};
      std::ranges::copy(values, cell);
    }
    std::ranges::copy(y, x.begin());
    for (std::size_t cell = 0; cell < 64; ++cell) x[8 * cell + 4] *= 0.75f;
  });
  set.class_names = {"cyclone", "river"};
  const MadeNetwork network(set, {"scale(by=1)"}, "detection_loss");
  const std::vector<Picture> drawn = draw_pictures(folder.path(), network.request);
  EXPECT_EQ(kinds(drawn), Kinds{"boxes"});
  const std::string boxes = content(folder / "boxes.svg");
  EXPECT_NE(boxes.find("2 of 2 found"), std::string::npos);
  EXPECT_NE(boxes.find("0 of 0 found; no prediction reaches 50 %"), std::string::npos);
  EXPECT_EQ(times(boxes, ">river 75 %<"), 3u);
  EXPECT_LT(boxes.find("sample 2"), boxes.find("sample 0"));
}

TEST(Pictures, TextOfALanguageModel) {
  const TemporaryFolder folder;
  const std::string poem = "abcdefghijklmnopqrstuvwxyz";
  const MadeSet set(4, Shape{16}, Shape{16}, [&](std::int64_t sample, std::span<float> x, std::span<float> y) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(poem[static_cast<std::size_t>(sample) + i]);
      y[i] = static_cast<float>(poem[static_cast<std::size_t>(sample) + i + 1]);
    }
  });
  MadeNetwork network(set, {"embedding(rows=256, width=256)"}, "softmax_cross_entropy");
  // Every letter is followed by the next letter of the alphabet.
  std::vector<float> table(256 * 256);
  for (std::size_t i = 0; i < 256; ++i) table[256 * i + (i == 'z' ? 'a' : i + 1) % 256] = 50;
  network.store->write_plain(0, table, network.store->weight(0));
  network.request.results = {{"perplexity", 4}};
  const std::vector<Picture> drawn = draw_pictures(folder.path(), network.request);
  EXPECT_EQ(kinds(drawn), Kinds{"text"});
  EXPECT_NE(drawn[0].caption.find("2.00 bits per character"), std::string::npos);
  const std::string text = content(folder / "text.txt");
  EXPECT_NE(text.find("=== Beginning of test sample 0 ===\nabcdefgh\n"), std::string::npos);
  EXPECT_NE(text.find("--- continued by the network ---\nijklmnopqrstuvwxyzabcdefghi"), std::string::npos);
  EXPECT_NE(text.find("--- continued in the text ---\nijklmnop\n"), std::string::npos);
  EXPECT_NE(text.find("sample 2 ===\ncdefghij\n"), std::string::npos);
}

TEST(Pictures, TokensThatFollowNothingAreNoText) {
  const TemporaryFolder folder;
  // A label for every word is not a text to continue, although its shapes are those of a text.
  const MadeSet labels(4, Shape{16}, Shape{16}, [](std::int64_t, std::span<float> x, std::span<float> y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i), y[i] = static_cast<float>(i % 2);
  });
  const MadeNetwork network(labels, {"embedding(rows=20, width=20)"}, "softmax_cross_entropy");
  EXPECT_TRUE(draw_pictures(folder.path(), network.request).empty());
}

TEST(Pictures, OneThatFailsLeavesTheOthers) {
  const TemporaryFolder folder;
  // Samples cannot be read, but predictions exist.
  const MadeSet set(30, Shape{8, 8, 1}, Shape{1},
                    [](std::int64_t, std::span<float>, std::span<float>) { fail("the file is damaged"); });
  MadeNetwork network(set, {"flatten", "dense(units=3)"}, "softmax_cross_entropy");
  const std::vector<float> predictions(90), targets(30);
  network.request.predictions = predictions, network.request.targets = targets;
  testing::internal::CaptureStderr();
  EXPECT_EQ(kinds(draw_pictures(folder.path(), network.request)), Kinds{"confusion"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "isobar: no picture of samples that are classified wrongly: the file is damaged\n");
  EXPECT_THROW(draw_pictures("/proc/none", network.request), Error);
}

TEST(Pictures, ARunDrawsThemWhenItHasFinished) {
  const TemporaryFolder folder;
  const auto sink = pictures();
  train::Trainer(train::small_job(folder / "run"), {sink.get()}).run();
  EXPECT_TRUE(std::filesystem::exists(folder / "run/pictures/scatter.svg"));
  EXPECT_EQ(nlohmann::json::parse(content(folder / "run/pictures/pictures.json")).size(), 2u);

  // If pictures cannot be written, the run still succeeds.
  const TemporaryFolder other;
  std::ofstream(other / "pictures") << "in the way";
  train::Start start;
  start.folder = other.path();
  start.recipe = Spec("recipe(loss=mse)");
  const auto blocked = pictures();
  blocked->start(start);
  train::End end;
  const std::vector<float> numbers(6);
  end.target_shape = Shape{3}, end.predictions = numbers, end.targets = numbers;
  testing::internal::CaptureStderr();
  disk::disk_warnings().conclude();  // clears warnings of earlier tests
  EXPECT_NO_THROW(blocked->end(end));
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_HAS(told, "/pictures");
  EXPECT_HAS(told, "cannot be");
}

TEST(Pictures, KindsHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const PictureKind* kind : picture_kinds()) {
    EXPECT_TRUE(names.insert(kind->name).second) << kind->name;
    EXPECT_FALSE(kind->summary.empty());
  }
}

}  // namespace
}  // namespace isobar::pictures
