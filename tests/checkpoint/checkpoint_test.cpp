#include "isobar/checkpoint/checkpoint.hpp"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/checkpoint/small_network.hpp"
#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::checkpoint {
namespace {

using namespace isobar::tests;

exec::ParamStore small_store() {
  exec::ParamStore store(graph::make_plan(small_network(2, {.norm = true})), 2);
  store.initialize(3);
  for (int p = 0; p < store.count(); ++p)
    for (float& v : store.slot(p, 1)) v = 0.25f;
  return store;
}

Snapshot small_snapshot() {
  std::vector<double> own{5};
  Snapshot snapshot;
  take_snapshot(
      snapshot, small_store(),
      {.step = 17, .epoch = 2, .step_in_epoch = 3, .loss_sum = 0.1, .rate_scale = 0.5, .rewinds = 2},
      {{.name = "own", .content = std::span(own), .scope = exec::StateBlock::Scope::each_rank, .may_drop = true}});
  snapshot.recipe = "seed = 5\n";
  snapshot.metrics = "{\"epoch\":1}\n{\"epoch\":2}\n";
  snapshot.plan = "00ff";
  snapshot.seed = 0xffff'ffff'ffff'fff0;
  snapshot.best = 0.3;
  snapshot.ranks = 2;
  const std::vector<float> first = snapshot.statistics;
  snapshot.statistics.insert(snapshot.statistics.end(), first.size(), 2.0f);
  snapshot.own_numbers = {5, 6};
  return snapshot;
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

class Checkpoint : public testing::Test {
 protected:
  Checkpoint() { written_ = write_checkpoint(file_, snapshot_); }
  const TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "c.h5";
  const Snapshot snapshot_ = small_snapshot();
  std::uintmax_t written_ = 0;
};

TEST_F(Checkpoint, BringsBackEverything) {
  EXPECT_EQ(written_, std::filesystem::file_size(file_));
  const CheckpointFile file(file_);
  file.verify();
  const Snapshot back = file.read();
  EXPECT_EQ(back.position, snapshot_.position);
  EXPECT_EQ(back.seed, snapshot_.seed);
  EXPECT_EQ(back.recipe, snapshot_.recipe);
  EXPECT_EQ(back.metrics, snapshot_.metrics);
  EXPECT_EQ(back.plan, snapshot_.plan);
  EXPECT_EQ(back.best, snapshot_.best);
  EXPECT_EQ(back.ranks, 2);
  EXPECT_EQ(back.statistics, snapshot_.statistics);
  EXPECT_EQ(back.own_numbers, snapshot_.own_numbers);
  EXPECT_EQ(back.parts.size(), snapshot_.parts.size());
  for (const Snapshot::Part& part : snapshot_.parts) {
    const Snapshot::Part* const same = back.find(part.name);
    ASSERT_NE(same, nullptr) << part.name;
    EXPECT_EQ(same->shape, part.shape);
    EXPECT_TRUE(std::ranges::equal(back.values(*same), snapshot_.values(part))) << part.name;
  }
  exec::ParamStore store = small_store();
  restore(back, store, {});
}

TEST_F(Checkpoint, ArraysOfEveryRankMakeItFormat3) {
  EXPECT_EQ(CheckpointFile(file_).index().format, 2) << "older programs read what has no such arrays";
  Snapshot snapshot = snapshot_;
  snapshot.own_arrays = {{"lost", std::vector<float>(20, 0.5f)}, {"more", std::vector<float>(40, -1.0f)}};
  write_checkpoint(file_, snapshot);
  const CheckpointFile file(file_);
  file.verify();
  EXPECT_EQ(file.index().format, 3);
  const Snapshot back = file.read();
  EXPECT_EQ(back.parts.size(), snapshot_.parts.size());
  ASSERT_EQ(back.own_arrays.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back.own_arrays[i].name, snapshot.own_arrays[i].name);
    EXPECT_EQ(back.own_arrays[i].numbers, snapshot.own_arrays[i].numbers);
  }
  EXPECT_TRUE(file.read_weights().own_arrays.empty());
  std::string bytes = bytes_of(file_);
  bytes[18] = '4';  // its format
  put(file_, bytes);
  EXPECT_HAS(error_of([&] { CheckpointFile{file_}; }), "is not a checkpoint of format 2 or 3");
}

TEST_F(Checkpoint, WeightsCanBeReadAlone) {
  const Snapshot weights = CheckpointFile(file_).read_weights();
  EXPECT_EQ(weights.position.step, 17);
  EXPECT_EQ(std::ranges::count_if(weights.parts, [](const auto& p) { return p.name.starts_with("slots"); }), 0);
  exec::ParamStore store = small_store(), wanted = small_store();
  std::ranges::fill(store.all_weights(), 0.0f);
  restore_weights(weights, store);
  EXPECT_TRUE(std::ranges::equal(store.all_weights(), wanted.all_weights()));
}

TEST_F(Checkpoint, IsAnHdf5FileForOthers) {
  const hdf5::Hdf5File in = hdf5::Hdf5File::open(file_);
  EXPECT_EQ(in.shape("weights/fc1.w"), (Shape{8, 72}));
  EXPECT_EQ(in.integer("/", "step"), 17);
  EXPECT_EQ(in.children("/"), (std::vector<std::string>{"metrics", "ranks", "recipe", "slots", "weights"}));
  for (const Snapshot::Part& part : snapshot_.parts) {
    std::vector<float> numbers(part.count);
    in.read<float>(part.name, numbers);
    EXPECT_TRUE(std::ranges::equal(numbers, snapshot_.values(part))) << part.name;
  }
}

TEST_F(Checkpoint, CutAnywhereItIsRefused) {
  const std::string whole = bytes_of(file_);
  const auto cut = folder_.path() / "cut.h5";
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += bytes < 200 ? 1 : 61) {
    put(cut, std::string_view(whole).substr(0, bytes));
    const std::string message = error_of([&] { CheckpointFile{cut}; });
    EXPECT_HAS(message, bytes < index_head_bytes ? "not a checkpoint of format 2" : "it is not complete");
  }
  put(cut, whole + "x");
  EXPECT_HAS(error_of([&] { CheckpointFile{cut}; }), "it is not complete");
}

// Every byte is covered by a checksum: a change of any bit is found, before anything is restored.
TEST_F(Checkpoint, AFlippedBitAnywhereIsFound) {
  const std::string whole = bytes_of(file_);
  const auto flipped = folder_.path() / "flipped.h5";
  put(flipped, whole);
  std::fstream change(flipped, std::ios::binary | std::ios::in | std::ios::out);
  const auto set = [&](std::size_t at, char byte) { change.seekp(static_cast<std::streamoff>(at)).put(byte).flush(); };
  std::size_t index = 0, parts = 0;
  for (std::size_t at = 0; at < whole.size(); at += at < 1200 ? 1 : 13) {
    set(at, static_cast<char>(whole[at] ^ 1 << at % 8));
    const std::string message = error_of([&] { CheckpointFile(flipped).verify(); });
    EXPECT_FALSE(message.empty()) << at;
    (message.find("index") != std::string::npos ? index : parts) += 1;
    set(at, whole[at]);
  }
  EXPECT_GT(index, 1000u);
  EXPECT_GT(parts, 1000u);
  CheckpointFile(flipped).verify();
}

TEST_F(Checkpoint, ADamagedPartIsNamedAndNothingOfItIsUsed) {
  const CheckpointIndex index = CheckpointFile(file_).index();
  for (const char* name : {"weights/fc1.w", "slots/1/fc2.b", "recipe", "ranks/statistics"}) {
    const CheckpointIndex::Entry* const entry = index.find(name);
    ASSERT_NE(entry, nullptr);
    std::string whole = bytes_of(file_);
    whole[static_cast<std::size_t>(entry->offset)] ^= 4;
    put(folder_.path() / "damaged.h5", whole);
    const CheckpointFile damaged(folder_.path() / "damaged.h5");
    EXPECT_HAS(error_of([&] { damaged.verify(); }), name);
    EXPECT_HAS(error_of([&] { damaged.read(); }), name);
  }
}

TEST_F(Checkpoint, IsReadToItsEndWhenItsNameGoes) {
  const CheckpointFile file(file_);
  std::filesystem::remove(file_);
  file.verify();
}

TEST_F(Checkpoint, OtherFilesAreRefused) {
  EXPECT_HAS(error_of([&] { CheckpointFile(folder_.path() / "none.h5"); }), "cannot be opened");
  EXPECT_HAS(error_of([&] { CheckpointFile{folder_.path()}; }), "not a regular file");
  put(folder_.path() / "text.h5", std::string(1000, 'x'));
  EXPECT_HAS(error_of([&] { CheckpointFile(folder_.path() / "text.h5"); }), "not a checkpoint of format 2");
  hdf5::Hdf5File::create(folder_.path() / "other.h5").commit();
  EXPECT_HAS(error_of([&] { CheckpointFile(folder_.path() / "other.h5"); }), "not a checkpoint of format 2");
}

// A file of format 2 with correct checksums but a false index.
TEST(CheckpointIndex, ALieIsRefusedBeforeMemoryIsTaken) {
  const auto refused = [](CheckpointIndex index, std::int64_t file_bytes = 1024) {
    index.user_block = 512;
    index.file_bytes = 1024;
    const std::string block = write_index(index);
    return error_of([&] {
      read_index({reinterpret_cast<const std::uint8_t*>(block.data()), block.size()}, file_bytes, "a.h5");
    });
  };
  constexpr auto real = files::NumberType::float32;
  const auto with = [](std::vector<CheckpointIndex::Entry> entries) {
    CheckpointIndex index;
    index.entries = std::move(entries);
    return index;
  };
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_HAS(refused(with({})), "does not know all bytes");
  EXPECT_HAS(refused(with({{"a", real, Shape{128}, 512, 512, 0}}), 2000), "it is not complete");
  EXPECT_HAS(refused(with({{"a", real, Shape{huge}, 512, 4 * huge, 0}})), "do not follow each other");
  EXPECT_HAS(refused(with({{"a", real, Shape{huge, huge}, 512, 512, 0}})), "does not have the bytes of its shape");
  EXPECT_HAS(refused(with({{"a", real, Shape{64}, 512, 512, 0}})), "does not have the bytes of its shape");
  EXPECT_HAS(refused(with({{"a", real, Shape{0}, 512, 0, 0}})), "no such shape");
  EXPECT_HAS(refused(with({{"a", real, Shape{-1}, 512, -4, 0}})), "no such shape");
  EXPECT_HAS(refused(with({{"a", real, Shape{128}, -512, 512, 0}})), "do not follow each other");
  EXPECT_HAS(refused(with({{"a", real, Shape{64}, 512, 256, 0}, {"a", real, Shape{64}, 768, 256, 0}})), "there twice");
  CheckpointIndex negative = with({{"a", real, Shape{128}, 512, 512, 0}});
  negative.position.step = -1;
  EXPECT_HAS(refused(negative), "below 0");
  negative.position.step = 1;
  negative.ranks = 0;
  EXPECT_HAS(refused(negative), "too large");
}

}  // namespace
}  // namespace isobar::checkpoint
