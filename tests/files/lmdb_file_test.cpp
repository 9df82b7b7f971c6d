// LMDB: what the library writes is read back, at any depth; damaged files end in errors; Datum.
#include "isobar/files/lmdb_file.hpp"

#include <lmdb.h>
#include <stdexcept>

#include "isobar/base/random.hpp"
#include "isobar/files/datum.hpp"

#include "tests/expect_error.hpp"
#include "tests/files/made_files.hpp"
#include "tests/files/public_data.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::files {
namespace {

using namespace isobar::tests;

std::string value(const LmdbFile& file, std::int64_t index) {
  ByteBuffer scratch;
  const auto bytes = file.value(index, scratch);
  return {bytes.begin(), bytes.end()};
}

// Value i has i * step bytes, all of them the letter i.
void write_base(const std::filesystem::path& folder, int count, int step) {
  LmdbWriter writer(folder, std::int64_t{count} * (8192 + count * step));
  for (int i = 0; i < count; ++i)
    writer.write(fmt::format("{:06}", i),
                 FileBytes(static_cast<std::size_t>(i * step), static_cast<std::uint8_t>('a' + i % 26)));
  writer.commit();
}

TEST(LmdbFile, ValuesOfAllSizesInOrder) {
  const TemporaryFolder folder;
  write_base(folder / "base", 60, 200);  // some on leaves, some on their own pages
  const LmdbFile file(folder / "base");
  ASSERT_EQ(file.size(), 60);
  for (int i = 59; i >= 0; --i)
    EXPECT_EQ(value(file, i), std::string(static_cast<std::size_t>(i) * 200, static_cast<char>('a' + i % 26)));
  EXPECT_EQ(LmdbFile(folder / "base/data.mdb").size(), 60);
  EXPECT_FALSE(std::filesystem::exists(folder / "base/lock.mdb"));
}

TEST(LmdbFile, DeepTrees) {
  const TemporaryFolder folder;
  {
    LmdbWriter writer(folder / "base", 200'000'000);
    for (int i = 0; i < 40'000; ++i)
      writer.write(fmt::format("{:0300}", i), FileBytes{static_cast<std::uint8_t>(i), 1});
    writer.commit();
  }
  const LmdbFile file(folder / "base");
  ASSERT_EQ(file.size(), 40'000);
  for (int i = 0; i < 40'000; i += 997) EXPECT_EQ(static_cast<std::uint8_t>(value(file, i)[0]), i % 256);
  LmdbWriter empty(folder / "empty", 0);
  empty.commit();
  EXPECT_EQ(LmdbFile(folder / "empty").size(), 0);
}

TEST(LmdbFile, DamagedFilesEndInErrors) {
  const TemporaryFolder folder;
  write_base(folder / "base", 40, 250);
  const InputFile good(folder / "base/data.mdb");
  FileBytes bytes(static_cast<std::size_t>(good.size()));
  good.read_at(0, bytes);
  EXPECT_TRUE(begins_with_lmdb(bytes));
  const auto walk = [&](const FileBytes& content) {
    write_bytes(folder / "bad", content);
    const LmdbFile file(folder / "bad");
    for (std::int64_t i = 0; i < file.size(); ++i) value(file, i);
  };
  walk(bytes);
  const Random random(7);
  int refused = 0;
  for (std::uint64_t round = 0; round < 400; ++round) {
    FileBytes bad = bytes;
    for (std::uint64_t k = 0; k <= round % 3; ++k) {
      // Mostly heads of pages, which hold everything except values.
      const std::uint64_t page = random.sub(round).below(4 * k, bad.size() / 4096);
      const std::uint64_t at = page * 4096 + random.sub(round).below(4 * k + 1, k == 2 ? 4096 : 160);
      bad[at] = static_cast<std::uint8_t>(random.sub(round).below(4 * k + 2, 256));
    }
    if (round % 10 == 0) bad.resize(random.sub(round).below(99, bad.size()));
    try {
      walk(bad);
    } catch (const Error& error) {
      ++refused;
      EXPECT_HAS(std::string(error.what()), "bad: ");
    }
  }
  EXPECT_GT(refused, 50);
  EXPECT_HAS(error_of([&] { LmdbFile(folder / "absent"); }), "absent");
}

void check_letters(const std::filesystem::path& folder) {
  const LmdbFile file(folder);
  ASSERT_EQ(file.size(), 10);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(value(file, i), std::string(1, static_cast<char>('a' + i)));
  ByteBuffer scratch;
  EXPECT_HAS(error_of([&] { read_datum(file.value(0, scratch)); }), "damaged");
}

void lmdb(int status) {
  if (status != MDB_SUCCESS) throw std::runtime_error(mdb_strerror(status));
}

// Files as left by programs that add, replace and remove entries, one transaction at a time: with free pages between
// the used ones, and with either head the later one.
TEST(LmdbFile, MadeFiles) {
  for (const int more : {0, 1}) {
    const TemporaryFolder folder;
    MDB_env* environment = nullptr;
    lmdb(mdb_env_create(&environment));
    lmdb(mdb_env_open(environment, folder.path().c_str(), 0, 0600));
    const auto change = [&](std::string key, std::string text) {
      MDB_txn* transaction = nullptr;
      MDB_dbi table = 0;
      lmdb(mdb_txn_begin(environment, nullptr, 0, &transaction));
      lmdb(mdb_dbi_open(transaction, nullptr, 0, &table));
      MDB_val name{key.size(), key.data()}, value{text.size(), text.data()};
      lmdb(text.empty() ? mdb_del(transaction, table, &name, nullptr) : mdb_put(transaction, table, &name, &value, 0));
      lmdb(mdb_txn_commit(transaction));
    };
    for (int i = 19 + more; i >= 0; --i) change(std::to_string(i), std::string(9000, 'x'));
    for (int i = 19 + more; i >= 10; --i) change(std::to_string(i), "");
    for (int i = 0; i < 10; ++i) change(std::to_string(i), std::string(1, static_cast<char>('a' + i)));
    mdb_env_close(environment);
    check_letters(folder.path());
  }
}

TEST(LmdbFile, PublicFile) {
  const auto folder = public_data("conformance/lmdb");
  if (folder.empty()) GTEST_SKIP() << "the public files are not beside this tree";
  check_letters(folder);
}

TEST(Datum, PlanesBecomePixels) {
  const FileBytes planes{1, 2, 3, 4, 5, 6, 7, 8};  // two channels of 2 x 2
  const auto bytes = datum_of_bytes(2, 2, 2, 9, planes);
  const Datum datum = read_datum(bytes);
  EXPECT_EQ(datum.label, 9);
  std::vector<float> out(8);
  datum.pixels(out);
  EXPECT_EQ(out, (std::vector<float>{1, 5, 2, 6, 3, 7, 4, 8}));
  const std::vector<float> numbers{0.5f, 1, 2, 3, 4, 5};
  const auto floats = datum_of_floats(3, 1, 2, 4, numbers);
  out.resize(6);
  read_datum(floats).pixels(out);
  EXPECT_EQ(out, (std::vector<float>{0.5f, 2, 4, 1, 3, 5}));
}

TEST(Datum, SizesMustAgree) {
  const FileBytes planes(7);
  EXPECT_HAS(error_of([&] { read_datum(datum_of_bytes(2, 2, 2, 0, planes)); }), "2 x 2 x 2 holds 7 bytes");
  EXPECT_HAS(error_of([&] { read_datum(datum_of_bytes(1, 7, -1, 0, planes)); }), "-1 pixels");
  EXPECT_HAS(error_of([&] { read_datum({}); }), "is not a Datum");
  const FileBytes good = datum_of_bytes(7, 1, 1, 3, planes);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    FileBytes bad = good;
    bad[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    try {
      const Datum datum = read_datum(bad);
      std::vector<float> out(static_cast<std::size_t>(datum.channels * datum.height * datum.width));
      if (!datum.encoded) datum.pixels(out);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace isobar::files
