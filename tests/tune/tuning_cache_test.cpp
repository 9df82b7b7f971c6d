#include "isobar/tune/remembered.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/temporary_folder.hpp"

namespace isobar::tune {
namespace {

TuningRecord example() {
  TuningRecord record{256'000'000, true, true, {}};
  record.findings.push_back({{"conv1", ops::Direction::forward, {{{"im2col", 4}, {"direct", 4}}}}, 0.25, 0.5, 1024});
  record.findings.push_back({{"conv 2", ops::Direction::data_gradient, {{{"flipped", 8}}}}, 1e-6, 1e-6, 0, true});
  return record;
}

void expect_same(const TuningRecord& a, const TuningRecord& b) {
  EXPECT_EQ(record_text(a, ""), record_text(b, ""));
  EXPECT_EQ(a.complete, b.complete);
}

TEST(TuningCache, IsReadBack) {
  const auto back = parse_record(record_text(example(), "this machine"), "this machine");
  ASSERT_TRUE(back);
  expect_same(*back, example());
  EXPECT_EQ(tuning_of(back->findings), tuning_of(example().findings));
  TuningRecord begun = example();
  begun.complete = false;
  EXPECT_FALSE(parse_record(record_text(begun, "m"), "m")->complete);
}

TEST(TuningCache, AnotherMachineOrDamageIsRefused) {
  const std::string text = record_text(example(), "this machine");
  EXPECT_FALSE(parse_record(text, "that machine"));
  for (std::size_t length = 0; length + 1 < text.size(); ++length)
    EXPECT_FALSE(parse_record(text.substr(0, length), "this machine")) << length;
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"0.25", "nan"}, {"0.25", "-1"}, {"0.25", "1e300"}, {" 1024 ", " -5 "}, {"im2col:4", "im2col:x"}}) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    EXPECT_FALSE(parse_record(changed, "this machine")) << to;
  }
}

TEST(TuningCache, FilesAreFoundAgainOrSaidToBeDamaged) {
  const tests::TemporaryFolder folder;
  const TuningCache cache{"this machine", folder.path() / "tuning.txt"};
  EXPECT_FALSE(read_tuning(cache).record);
  EXPECT_EQ(read_tuning(cache).problem, "");
  write_tuning(cache, example());
  ASSERT_TRUE(read_tuning(cache).record);
  expect_same(*read_tuning(cache).record, example());
  std::ofstream(cache.file) << "anything";
  EXPECT_FALSE(read_tuning(cache).record);
  EXPECT_NE(read_tuning(cache).problem.find("damaged"), std::string::npos);
}

TEST(TuningCache, DependsOnMachineThreadsNetworkAndBatch) {
  const auto key = tuning_cache("cpu", 2, "hep", 8).key;
  EXPECT_EQ(tuning_cache("cpu", 2, "hep", 8).key, key);
  EXPECT_NE(tuning_cache("cpv", 2, "hep", 8).key, key);
  EXPECT_NE(tuning_cache("cpu", 3, "hep", 8).key, key);
  EXPECT_NE(tuning_cache("cpu", 2, "hop", 8).key, key);
  EXPECT_NE(tuning_cache("cpu", 2, "hep", 9).key, key);
  EXPECT_NE(tuning_cache("cpu", 2, "hep", 8, Instructions::v3).key,
            tuning_cache("cpu", 2, "hep", 8, Instructions::v4).key);
}

}  // namespace
}  // namespace isobar::tune
