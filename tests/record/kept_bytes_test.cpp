#include "isobar/record/kept_bytes.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/temporary_folder.hpp"

namespace isobar::record {
namespace {

TEST(KeptBytes, EndBeforeTheFirstLineThatWillBeRepeated) {
  const tests::TemporaryFolder folder;
  const std::string kept = "{\"kind\":\"step\",\"step\":1}\n[{\"args\":{\"step\":2}},\n";
  const auto after = [&](const std::string& rest) {
    std::ofstream(folder / "lines.jsonl") << kept << rest;
    train::Start start;
    start.first_step = 2;
    start.first_epoch = 1;
    return kept_bytes(folder / "lines.jsonl", start);
  };
  EXPECT_EQ(after(""), kept.size());
  EXPECT_EQ(after("{\"kind\":\"step\",\"step\":3}\n{\"step\":1}\n"), kept.size()) << "a later step";
  EXPECT_EQ(after("{\"kind\":\"end\"}\n"), kept.size());
  EXPECT_EQ(after("{\"kind\":\"epoch\",\"epoch\":2,\"step\":2}\n"), kept.size()) << "an epoch to be finished again";
  EXPECT_EQ(after("{\"step\":2"), kept.size()) << "a torn line";
  EXPECT_EQ(after("{\"kind\":\"epoch\",\"epoch\":1,\"step\":2}\n"), kept.size() + 36);
}

TEST(RankFile, IsNamedByRankAndThoseOfFormerRanksAreRemoved) {
  const tests::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "profile");
  std::ofstream(folder / "profile/rank1.jsonl") << "1";
  std::ofstream(folder / "profile/rank2.jsonl") << "2";
  train::Start start;
  start.folder = folder.path();
  start.ranks = 2;
  EXPECT_EQ(rank_file(start, "profile", ".jsonl"), folder / "profile/rank0.jsonl");
  EXPECT_TRUE(std::filesystem::exists(folder / "profile/rank1.jsonl"));
  EXPECT_FALSE(std::filesystem::exists(folder / "profile/rank2.jsonl"));
  start.rank = 1;
  start.folder = folder / "elsewhere";
  EXPECT_EQ(rank_file(start, "profile", ".jsonl"), std::nullopt) << "a folder this rank does not see";
}

}  // namespace
}  // namespace isobar::record
