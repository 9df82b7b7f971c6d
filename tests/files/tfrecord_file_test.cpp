// TFRecord files: framing, checksums, gzip, and files that other programs wrote, or could have.
#include "isobar/files/tfrecord_file.hpp"

#include "isobar/files/crc32c.hpp"
#include "isobar/files/tf_example.hpp"

#include "tests/expect_error.hpp"
#include "tests/files/made_files.hpp"
#include "tests/files/public_data.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::files {
namespace {

using namespace isobar::tests;

constexpr std::int64_t tfrecord_file_limit = 1 << 20;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

FileBytes content_of(const std::filesystem::path& path) {
  const InputFile file(path);
  FileBytes bytes(static_cast<std::size_t>(file.size()));
  file.read_at(0, bytes);
  return bytes;
}

std::string record(const TfrecordFile& file, std::int64_t index) {
  ByteBuffer scratch;
  const auto bytes = file.record(index, scratch);
  return {bytes.begin(), bytes.end()};
}

TEST(Crc32c, KnownSumsByBothWays) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283u);
  EXPECT_EQ(crc32c(FileBytes(32, 0)), 0x8A9136AAu);
  FileBytes bytes;
  for (std::size_t i = 0; i < 10'000; ++i) bytes.push_back(static_cast<std::uint8_t>(i * i >> 3));
  for (const std::size_t count : {0u, 1u, 7u, 8u, 3071u, 3072u, 3073u, 9'999u})
    for (const std::size_t first : {0u, 1u}) {
      const auto part = std::span(bytes).subspan(first, count);
      EXPECT_EQ(crc32c(part), crc32c_by_table(part)) << count;
    }
}

TEST(TfrecordFile, PlainAndCompressed) {
  const TemporaryFolder folder;
  const std::string long_record(20'000, 'z');
  for (const bool gzip : {false, true}) {
    TfrecordWriter writer(folder / "some", gzip);
    for (const std::string_view text : {std::string_view("first"), std::string_view(""), std::string_view(long_record)})
      writer.write(bytes_of(text));
    writer.commit();
    const TfrecordFile file(folder / "some", tfrecord_file_limit);
    ASSERT_EQ(file.size(), 3);
    EXPECT_EQ(record(file, 2), long_record);
    EXPECT_EQ(record(file, 0), "first");
    EXPECT_EQ(record(file, 1), "");
    EXPECT_TRUE(begins_with_record(content_of(folder / "some")) != gzip);
  }
  const FileBytes member = content_of(folder / "some");
  FileBytes twice = member;
  twice.insert(twice.end(), member.begin(), member.end());
  twice.resize(twice.size() + 100);  // gzip's own programs ignore zeros at the end
  write_bytes(folder / "twice", twice);
  const TfrecordFile file(folder / "twice", tfrecord_file_limit);
  ASSERT_EQ(file.size(), 6);
  EXPECT_EQ(record(file, 5), long_record);
  EXPECT_HAS(error_of([&] { TfrecordFile(folder / "twice", 30'000); }), "more than 30.0 kB would be held");
}

TEST(TfrecordFile, EveryBitIsCheckedAndEveryEndIsNoticed) {
  const TemporaryFolder folder;
  TfrecordWriter writer(folder / "good", false);
  writer.write(bytes_of("abc"));
  writer.write(bytes_of("defg"));
  writer.commit();
  const FileBytes good = content_of(folder / "good");
  const auto read_all = [&](const FileBytes& bytes) {
    write_bytes(folder / "bad", bytes);
    const TfrecordFile file(folder / "bad", tfrecord_file_limit);
    for (std::int64_t i = 0; i < file.size(); ++i) record(file, i);
    return file.size();
  };
  EXPECT_EQ(read_all(good), 2);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    FileBytes bad = good;
    bad[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    EXPECT_HAS(error_of([&] { read_all(bad); }), "bad: ");
  }
  for (std::size_t length = 1; length < good.size(); ++length) {
    const FileBytes part(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
    if (length == 12 + 3 + 4) EXPECT_EQ(read_all(part), 1);
    else EXPECT_HAS(error_of([&] { read_all(part); }), "bad: ");
  }
  EXPECT_EQ(read_all({}), 0);
}

TEST(TfrecordFile, DamagedGzipIsRefused) {
  const TemporaryFolder folder;
  TfrecordWriter writer(folder / "good", true);
  for (int i = 0; i < 20; ++i) writer.write(bytes_of("some text, and some more"));
  writer.commit();
  const FileBytes good = content_of(folder / "good");
  const auto message = [&](const FileBytes& bytes) {
    write_bytes(folder / "bad", bytes);
    return error_of([&] { TfrecordFile(folder / "bad", tfrecord_file_limit); });
  };
  for (std::size_t cut = 3; cut < good.size(); ++cut)
    EXPECT_HAS(message(FileBytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(cut))), "bad: ");
  for (std::size_t at = 10; at < good.size(); ++at) {
    FileBytes bad = good;
    bad[at] ^= 0x10;
    write_bytes(folder / "bad", bad);
    EXPECT_THROW(TfrecordFile(folder / "bad", tfrecord_file_limit), Error) << at;
  }
  FileBytes more = good;
  more.push_back('x');
  EXPECT_HAS(message(more), "1 bytes after the gzip data");
  for (std::size_t length = 3; length < 18; ++length)  // no member is this short
    EXPECT_HAS(message({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)}), "ends too early");
}

TEST(TfExample, ListsPackedAndNot) {
  ExampleWriter writer;
  const float numbers[] = {1.5f, -2.0f};
  const std::int64_t wholes[] = {3, -4, 1LL << 40};
  writer.floats("numbers", numbers);
  writer.integers("wholes", wholes);
  writer.bytes("text", bytes_of("abc"));
  const auto example = writer.finish();
  const auto features = features_of(example);
  ASSERT_EQ(features.size(), 3u);
  EXPECT_EQ(features[1].name, "wholes");
  EXPECT_EQ(features[1].count, 3);
  std::vector<float> out(3);
  find_feature(example, "wholes")->numbers(out);
  EXPECT_EQ(out, (std::vector<float>{3, -4, 0x1p40f}));
  out.resize(2);
  find_feature(example, "numbers")->numbers(out);
  EXPECT_EQ(out, (std::vector<float>{1.5f, -2.0f}));
  EXPECT_EQ(find_feature(example, "text")->bytes().size(), 3u);
  EXPECT_FALSE(find_feature(example, "absent"));
  // {1: {1: {1: "u", 2: {3: {1: 7, 1: 300}}}}}, the numbers not packed
  const FileBytes unpacked{0x0A, 14, 0x0A, 12, 0x0A, 1, 'u', 0x12, 7, 0x1A, 5, 0x08, 7, 0x08, 0xAC, 0x02};
  find_feature(unpacked, "u")->numbers(out);
  EXPECT_EQ(out, (std::vector<float>{7, 300}));
}

TEST(TfExample, DamagedMessagesEndInErrors) {
  ExampleWriter writer;
  const float numbers[] = {1.5f, -2.0f};
  writer.floats("numbers", numbers);
  writer.bytes("text", bytes_of("abc"));
  const auto good = writer.finish();
  const auto walk = [](std::span<const std::uint8_t> record) {
    for (const Feature& feature : features_of(record)) {
      if (feature.kind == Feature::Kind::bytes && feature.count > 0) feature.bytes(feature.count - 1);
      std::vector<float> out(static_cast<std::size_t>(feature.count));
      if (feature.kind != Feature::Kind::bytes && feature.kind != Feature::Kind::empty) feature.numbers(out);
    }
  };
  int refused = 0;
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    FileBytes bad(good);
    bad[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    try {
      walk(bad);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
  for (std::size_t length = 1; length < good.size(); ++length)
    EXPECT_THROW(walk(std::span(good).first(length)), Error) << length;
}

void check_examples(const std::filesystem::path& folder) {
  ByteBuffer scratch;
  int sequences = 0;
  for (const char* name : {"example.tfrecord", "sequence_example.tfrecord"}) {
    const TfrecordFile file(folder / name, tfrecord_file_limit);
    ASSERT_EQ(file.size(), 4) << name;
    for (std::int64_t i = 0; i < 4; ++i) {
      const auto bytes = file.record(i, scratch);
      const auto floats = find_feature(bytes, "x_float"), wholes = find_feature(bytes, "x_int"),
                 text = find_feature(bytes, "x_byte");
      ASSERT_TRUE(floats && wholes && text) << name;
      std::vector<float> x(static_cast<std::size_t>(floats->count)), n(static_cast<std::size_t>(wholes->count));
      floats->numbers(x);
      wholes->numbers(n);
      ASSERT_GE(x.size(), 10u);
      ASSERT_EQ(x.size(), n.size());
      for (std::size_t k = 0; k < 10; ++k) EXPECT_EQ(x[k], static_cast<float>(10 * i) + static_cast<float>(k));
      for (std::size_t k = 0; k < 10; ++k) EXPECT_EQ(n[k], 10 * x[k]);
      const auto words = text->bytes();
      EXPECT_EQ(std::string(words.begin(), words.end()), "test str");
      if (const auto steps = find_feature(bytes, "x_float_seq")) {
        ++sequences;
        EXPECT_EQ(steps->steps, 2 * i + 3);
        std::vector<float> all(static_cast<std::size_t>(steps->count));
        steps->numbers(all);
        EXPECT_EQ(all[10], x[0]);
      }
    }
  }
  EXPECT_EQ(sequences, 4);
}

TEST(TfExample, MadeFiles) {
  const TemporaryFolder folder;
  make_with("make_conformance.py", folder.path());
  check_examples(folder / "tfrecord");
}

TEST(TfExample, PublicFiles) {
  const auto folder = public_data("conformance/tfrecord");
  if (folder.empty()) GTEST_SKIP() << "the public files are not beside this tree";
  check_examples(folder);
}

}  // namespace
}  // namespace isobar::files
