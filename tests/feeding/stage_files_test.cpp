#include "isobar/feeding/stage_files.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"

#include "tests/comm/forwarding_comm.hpp"
#include "tests/datasets/samples.hpp"

namespace isobar::feeding {
namespace {

using namespace isobar::tests;

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string content(int file, std::size_t bytes) {
  std::string text(bytes, ' ');
  for (std::size_t i = 0; i < bytes; ++i)
    text[i] = static_cast<char>('a' + (i * 7 + static_cast<std::size_t>(file)) % 26);
  return text;
}

// All files below a folder: name and content.
std::map<std::string, std::string> tree(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[entry.path().lexically_relative(folder).string()] = read_text(entry.path());
  return files;
}

/// A set of files of different lengths, including an empty one, and a place for the nodes' folders.
struct Set {
  explicit Set(int files) {
    for (int f = 0; f < files; ++f) {
      const std::size_t bytes = f == 1 ? 0 : 100 + static_cast<std::size_t>(f) * 37;
      write_text(shared() / (f % 2 ? "odd" : "even") / fmt::format("f{}.bin.gz", f), content(f, bytes));
      total += static_cast<std::int64_t>(bytes);
    }
  }
  fs::path shared() const { return folder / "shared" / "train"; }
  Spec spec() const { return Spec("auto", {{"path", Value(shared().string())}}); }
  StageOptions options(int rank, int ranks_per_node) const {
    const std::string node = fmt::format("node{}", rank / ranks_per_node);
    return {.to = folder / node, .node = node, .block_bytes = 64};
  }

  TemporaryFolder folder;
  std::int64_t total = 0;
};

std::string path_in(const Spec& spec) {
  Args args(spec);
  return args.text("path");
}

TEST(StageFiles, EveryNodeGetsAllAndEachFileIsReadOnce) {
  for (int ranks = 1; ranks <= 8; ++ranks) {
    for (const int per_node : {1, 2, 3}) {
      const Set set(11);
      const auto wanted = tree(set.shared());
      const int nodes = (ranks + per_node - 1) / per_node;
      comm::run_ranks(ranks, [&](comm::Comm& comm) {
        const StageResult result = stage_files(set.spec(), set.options(comm.rank(), per_node), comm);
        EXPECT_FALSE(result.reused);
        EXPECT_EQ(result.total.read, set.total);
        EXPECT_EQ(result.set_bytes, set.total);
        EXPECT_EQ(result.total.written, set.total * nodes);
        EXPECT_EQ(result.total.sent, set.total * (nodes - 1));
        EXPECT_EQ(result.total.received, result.total.sent);
        EXPECT_EQ(result.files, 11);
        EXPECT_EQ(fs::path(path_in(result.staged)).filename(), "train");
        EXPECT_EQ(tree(path_in(result.staged)), wanted);
      });
      for (int node = 0; node < nodes; ++node)
        for (const auto& entry : fs::directory_iterator(set.folder / fmt::format("node{}", node)))
          EXPECT_NE(entry.path().extension(), ".partial");
    }
  }
}

TEST(StageFiles, AFinishedFolderIsUsedAgainAndADamagedOneIsNot) {
  const Set set(6);
  const auto stage = [&](bool first_node, bool second_node, std::int64_t read) {
    comm::run_ranks(4, [&](comm::Comm& comm) {
      const StageResult result = stage_files(set.spec(), set.options(comm.rank(), 2), comm);
      EXPECT_EQ(result.reused, comm.rank() < 2 ? first_node : second_node);
      EXPECT_EQ(result.total.read, read);
      EXPECT_EQ(tree(path_in(result.staged)), tree(set.shared()));
    });
  };
  stage(false, false, set.total);
  stage(true, true, 0);
  fs::path lost;
  for (const auto& entry : fs::recursive_directory_iterator(set.folder / "node1"))
    if (entry.path().filename() == "f4.bin.gz") lost = entry.path();
  fs::resize_file(lost, 3);
  stage(true, false, set.total);
  write_text(set.shared() / "odd" / "f3.bin.gz", "something else");
  comm::run_ranks(
      4, [&](comm::Comm& comm) { EXPECT_FALSE(stage_files(set.spec(), set.options(comm.rank(), 2), comm).reused); });
}

TEST(StageFiles, ShardsAreDisjoint) {
  const Set set(10);
  std::mutex mutex;
  std::map<std::string, std::string> joined;
  comm::run_ranks(4, [&](comm::Comm& comm) {
    StageOptions options = set.options(comm.rank(), 2);
    options.scheme = Scheme::shard;
    const StageResult result = stage_files(set.spec(), options, comm);
    EXPECT_EQ(result.total.read, set.total);
    EXPECT_EQ(result.total.sent, 0);
    EXPECT_EQ(result.total.written, set.total);
    const auto mine = tree(path_in(result.staged));
    EXPECT_EQ(static_cast<std::int64_t>(mine.size()), result.files);
    const std::lock_guard lock(mutex);
    for (const auto& file : mine) EXPECT_TRUE(joined.insert(file).second);
  });
  EXPECT_EQ(joined, tree(set.shared()));
}

TEST(StageFiles, AQuotaIsDrawnWithReplacementAndStoredOnce) {
  const Set set(7);
  const auto original = tree(set.shared());
  std::mutex mutex;
  std::set<std::string> drawn;
  std::int64_t read = 0, repeats = 0;
  comm::run_ranks(5, [&](comm::Comm& comm) {
    StageOptions options = set.options(comm.rank(), 2);
    options.scheme = Scheme::quota;
    options.quota = 6;
    const StageResult result = stage_files(set.spec(), options, comm);
    const auto mine = tree(path_in(result.staged));
    EXPECT_EQ(mine.size(), 6u);
    std::set<std::string> distinct;
    for (const auto& [name, text] : mine) {
      std::string plain = name;  // f3~1.bin.gz is f3.bin.gz again
      if (const auto mark = plain.find('~'); mark != std::string::npos) plain.erase(mark, plain.find('.') - mark);
      ASSERT_TRUE(original.contains(plain)) << name;
      EXPECT_EQ(text, original.at(plain));
      distinct.insert(plain);
    }
    const std::lock_guard lock(mutex);
    drawn.insert(distinct.begin(), distinct.end());
    repeats += 6 - static_cast<std::int64_t>(distinct.size());
    read = result.total.read;
  });
  std::int64_t wanted = 0;
  for (const std::string& name : drawn) wanted += static_cast<std::int64_t>(original.at(name).size());
  EXPECT_EQ(read, wanted);
  EXPECT_GT(repeats, 0);  // of 30 draws from 7 files
}

TEST(StageFiles, WhatRanksDrawDependsOnSeedAndRankOnly) {
  StageList list;
  list.sources.push_back({{"path"}, "/data", "train", false, false});
  for (int f = 0; f < 100; ++f) list.files.push_back({0, fmt::format("train/{}", f), 1, 0});
  const std::vector<std::string> four(4, "a"), eight(8, "b");
  const StagePlan a(list, Scheme::quota, 50, 3, four), b(list, Scheme::quota, 50, 3, eight),
      c(list, Scheme::quota, 50, 4, four);
  EXPECT_EQ(a.seen_by(2), b.seen_by(2));
  EXPECT_NE(a.seen_by(2), a.seen_by(1));
  EXPECT_NE(a.seen_by(2), c.seen_by(2));
  EXPECT_NE(a.fingerprint(0), c.fingerprint(0));
  EXPECT_NE(a.fingerprint(0), StagePlan(list, Scheme::all, 0, 3, four).fingerprint(0));
  EXPECT_EQ(StageList::unpack(list.pack()).pack(), list.pack());
}

TEST(StageFiles, PatternsFilesAndLabelsAreFollowed) {
  const TemporaryFolder folder;
  write_text(folder / "in/a1.bin", "one");
  write_text(folder / "in/a2.bin", "two");
  write_text(folder / "in/b.bin", "not this");
  write_text(folder / "labels.bin", "labels");
  const auto comm = comm::alone();
  const StageOptions options{.to = folder / "out"};
  const auto staged = [&](const std::string& text) { return stage_files(Spec(text), options, *comm).staged; };
  const std::string in = (folder / "in").string();

  const std::string pattern = path_in(staged(fmt::format("npy(path='{}/a*.bin')", in)));
  EXPECT_EQ(fs::path(pattern).filename(), "a*.bin");
  EXPECT_EQ(tree(fs::path(pattern).parent_path()).size(), 2u);

  const Spec both = staged(
      fmt::format("hdf5(path='{}/a1.bin', x=data, labels='{}', samples=3)", in, (folder / "labels.bin").string()));
  EXPECT_EQ(read_text(path_in(both)), "one");
  Args args(both);
  EXPECT_EQ(read_text(args.text("labels")), "labels");
  EXPECT_EQ(args.text("x"), "data");
  EXPECT_EQ(args.integer("samples"), 3);

  Args joined(
      staged(fmt::format("auto(x='hdf5(path=''{}/a1.bin'')', y='hdf5(path=''{}/a2.bin'', labels=folder)')", in, in)));
  EXPECT_EQ(read_text(path_in(Spec(joined.text("x")))), "one");
  EXPECT_EQ(read_text(path_in(Spec(joined.text("y")))), "two");
}

TEST(StageFiles, WhatCannotBeStagedIsAnError) {
  const Set set(3);
  const auto comm = comm::alone();
  StageOptions options = set.options(0, 1);
  EXPECT_HAS(error_of([&] { stage_files("noise(count=3)", options, *comm); }), "reads no files");
  const auto second = comm::alone();
  options.max_bytes = set.total - 1;
  EXPECT_HAS(error_of([&] { stage_files(set.spec(), options, *second); }), "max_gigabytes");
  EXPECT_FALSE(fs::exists(options.to));  // nothing was begun
  options.max_bytes = set.total;
  options.scheme = Scheme::shard;
  EXPECT_HAS(error_of([&] { comm::run_ranks(4, [&](comm::Comm& four) { stage_files(set.spec(), options, four); }); }),
             "a file for each of 4 ranks");
}

// One rank finds its file missing, shorter or longer: all ranks end with one message, and no unfinished folder stays.
TEST(StageFiles, AFileThatChangesOnTheWayEndsAllRanks) {
  enum class Change { vanishes, shrinks, grows, is_rewritten };
  for (const Change change : {Change::vanishes, Change::shrinks, Change::grows, Change::is_rewritten}) {
    for (const int ranks : {1, 3, 8}) {
      const Set set(17);
      const fs::path victim = set.shared() / "odd" / "f9.bin.gz";
      std::mutex mutex;
      std::set<std::string> messages;
      const std::string first = error_of([&] {
        comm::run_ranks(ranks, [&](comm::Comm& comm) {
          // Copies are as fast as the slowest rank: the last one changes a file of the last round before it begins.
          const auto changed = [&] {
            if (change == Change::vanishes) fs::remove(victim);
            if (change == Change::shrinks) fs::resize_file(victim, 5);
            if (change == Change::grows) fs::resize_file(victim, 1000);
            if (change == Change::is_rewritten)
              fs::last_write_time(victim, fs::file_time_type::clock::now() + std::chrono::hours(1));
          };
          StageOptions options = set.options(comm.rank(), 2);
          // Changes the file when the exchange checks whether all is well.
          struct Watched final : isobar::tests::ForwardingView {
            Watched(std::shared_ptr<comm::WorldView> inside, std::function<void()> first_check)
                : ForwardingView(std::move(inside)), first_check_(std::move(first_check)) {}
            void check(std::uint32_t epoch) const override {
              if (auto action = std::exchange(first_check_, nullptr)) action();
              ForwardingView::check(epoch);
            }
            mutable std::function<void()> first_check_;
          };
          const auto first_check = comm.rank() == 0 ? std::function<void()>(changed) : nullptr;
          isobar::tests::ForwardingComm watched(comm, std::make_shared<Watched>(comm.view(), first_check));
          try {
            stage_files(set.spec(), options, watched);
          } catch (const comm::Aborted& told) {
            const std::lock_guard lock(mutex);
            messages.insert(told.what());
            throw;
          }
        });
      });
      EXPECT_HAS(first, "f9.bin.gz");
      EXPECT_HAS(first, "[rank ");
      EXPECT_LE(messages.size(), 1u);
      for (const std::string& told : messages) EXPECT_EQ(told, first);
      for (const auto& entry : fs::recursive_directory_iterator(set.folder.path()))
        EXPECT_EQ(entry.path().string().find(".partial"), std::string::npos) << entry.path();
    }
  }
}

}  // namespace
}  // namespace isobar::feeding
