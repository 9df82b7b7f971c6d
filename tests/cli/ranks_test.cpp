// Verbs under every launcher: two ranks, of which only one prints.
#include <fstream>

#include "tests/capture.hpp"
#include "tests/cli/launched.hpp"

namespace {

using isobar::tests::text_of;

// Always starts bin/isobar, which replaces itself with the program that the launcher needs.
std::vector<std::string> two_ranks() {
  std::vector<std::string> words;
  for (const LaunchKind& kind : launch_kinds()) words.push_back(kind.words + " 2 ");
  return words;
}

std::string ranks_tiny_recipe(const TemporaryFolder& folder) {
  std::ofstream(folder / "tiny.toml") << "model = 'cosmoflow(size=8, channels=1, width=4, layers=2, outputs=2)'\n"
                                      << "folder = '" << folder / "run"
                                      << "'\n"
                                      << "[data]\nbatch = 4\n"
                                      << "train = 'noise(shape=[8, 8, 8, 1], targets=2, count=12)'\n"
                                      << "test = 'noise(shape=[8, 8, 8, 1], targets=2, count=5, seed=2)'\n"
                                      << "[train]\nepochs = 2\n";
  return "train '" + folder / "tiny.toml" + "'";
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Ranks, TrainTogetherAndSpeakAsOne) {
  for (const std::string& launcher : two_ranks()) {
    const TemporaryFolder folder;
    const Outcome outcome = run_isobar(ranks_tiny_recipe(folder), launcher);
    EXPECT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(occurrences(outcome.text, "finished 6 steps"), 1u) << outcome;
    EXPECT_SHOWS(outcome, "2 ranks on 1 node, 1 thread each");
    EXPECT_SHOWS(outcome, "global batch 4: 2 ranks with 1 micro-batch of 2; sync");
    const std::string report = text_of(folder / "run/report.txt");
    EXPECT_EQ(occurrences(report, "exposed communication"), 1u) << report;
    EXPECT_EQ(occurrences(text_of(folder / "run/metrics.jsonl"), "\"kind\":\"step\""), 6u);
    EXPECT_EQ(occurrences(text_of(folder / "run/predictions.csv"), "\n"), 6u);
  }
}

TEST(Ranks, DeterministicRunsDoNotDependOnTheLauncher) {
  std::string wanted;
  std::vector<std::string> launchers = two_ranks();
  launchers.insert(launchers.begin(), "");
  for (const std::string& launcher : launchers) {
    const TemporaryFolder folder;
    const Outcome outcome =
        run_isobar(ranks_tiny_recipe(folder) + " --threads 1 --quiet --set train.deterministic=true", launcher);
    EXPECT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(outcome.text, "");
    const std::string metrics = text_of(folder / "run/metrics.jsonl");
    const std::string steps = metrics.substr(0, metrics.find("\"kind\":\"epoch\""));  // evaluations are summed by rank
    if (wanted.empty()) wanted = steps;
    EXPECT_EQ(steps, wanted);
  }
}

TEST(Ranks, AFailureIsToldOnceByTheRankThatHasIt) {
  for (const std::string& launcher : two_ranks()) {
    const TemporaryFolder folder;
    const std::string train = ranks_tiny_recipe(folder);
    const Outcome wrong = run_isobar(train + " --set train.epoch=3", launcher);
    EXPECT_EQ(wrong.code, 2) << wrong;
    EXPECT_EQ(occurrences(wrong.text, "did you mean 'epochs'?"), 1u) << wrong;
    EXPECT_SHOWS(wrong, "isobar: [rank ");
    std::ofstream(folder / "file") << "in the way";
    const Outcome unwritable = run_isobar(train + " --set folder=" + folder / "file/run", launcher);
    EXPECT_EQ(unwritable.code, 1) << unwritable;
    EXPECT_EQ(occurrences(unwritable.text, "[rank 0] run folder"), 1u) << unwritable;
  }
}

// The signal goes to one rank, as soon as it has begun to train.
TEST(Ranks, ASignalToOneStopsAll) {
  for (const std::string& launcher : two_ranks()) {
    const TemporaryFolder folder;
    const std::string train = ranks_tiny_recipe(folder);
    const std::string script = folder / "rank.sh";
    std::ofstream(script) << "rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}\n"
                          << "if [ $rank = 1 ]; then (\n"
                          << "  until grep -q step '" << folder / "run/metrics.jsonl"
                          << "' 2>/dev/null; do :; done\n"
                          << "  kill -TERM $$ ) & fi\n"
                          << "exec " << ISOBAR_PROGRAM << " \"$@\"\n";
    const std::string command =
        " sh '" + script + "' " + train + " --set train.epochs=1000000 2>&1 </dev/null; echo code $?";
    Outcome outcome;
    std::FILE* pipe = popen((launcher + command).c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::array<char, 4096> part;
    while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe)) outcome.text.append(part.data(), got);
    pclose(pipe);
    EXPECT_SHOWS(outcome, "stopped; the same command with --resume continues");
    EXPECT_SHOWS(outcome, "code 130");
    EXPECT_TRUE(fs::exists(folder / "run/checkpoints"));
    EXPECT_SHOWS(run_isobar(train + " --resume --set train.epochs=1"), "resumed after step");
  }
}

TEST(Ranks, DoctorLooksAtThem) {
  for (const std::string& launcher : two_ranks()) {
    const Outcome outcome = run_isobar("doctor --quick", launcher);
    EXPECT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(occurrences(outcome.text, "What would slow a run down"), 1u) << outcome;
    for (const char* word : {"2 on 1 node", "MPI ", "rank 0 ", "rank 1 "}) EXPECT_SHOWS(outcome, word);
  }
  const Outcome measured = run_isobar("doctor", two_ranks()[0]);
  EXPECT_SHOWS(measured, "0 to 1");
  EXPECT_SHOWS(measured, "latency");
}

}  // namespace
