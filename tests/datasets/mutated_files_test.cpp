// Hostile files: many broken variants of every format that can be written, and of some files made by hand, are
// inspected, opened and read. Each is read or refused with an Error: no crash, no hang, no allocation beyond a bound,
// in any build. A short version runs with all tests; `make mutate` runs 10,000 variants of each under the address
// sanitizer.
#include <fstream>
#include <functional>
#include <memory>

#include <hdf5.h>

#include "isobar/datasets/format.hpp"
#include "isobar/files/tfrecord_file.hpp"

#include "tests/datasets/written.hpp"
#include "tests/files/made_files.hpp"
#include "tests/mutation.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;
namespace fs = std::filesystem;

// A file of a few kilobytes justifies no more; inflating may turn 1 byte into 1,000, and libraries have caches.
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 28;
constexpr unsigned max_seconds = 30;
constexpr std::int64_t max_numbers = std::int64_t{1} << 22;  // of a field to be read

struct Case {
  std::string name;
  std::vector<fs::path> files;  // below the folder; variants break one of them
  Spec reader;                  // with a path inside the folder
};

FileBytes content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Whether everything could be read; an Error is a valid refusal, any other exception propagates.
bool use(const Spec& reader) {
  bool accepted = true;
  const auto attempt = [&](const auto& action) {
    try {
      action();
    } catch (const Error&) {
      accepted = false;
    }
  };
  attempt([&] { look_into(glance_at(Args(reader).text("path"))); });
  attempt([&] {
    const auto dataset = make_dataset(reader);
    for (const Field& field : dataset->fields())
      if (field.shape.count() > max_numbers) return;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(dataset->size(), 4); ++i)
      attempt([&] { read_sample(*dataset, i); });
    attempt([&] { read_sample(*dataset, dataset->size() - 1); });
  });
  return accepted;
}

std::vector<fs::path> files_below(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

void expect_survival(const Case& tried, std::uint64_t count) {
  SCOPED_TRACE(tried.name);
  ASSERT_FALSE(tried.files.empty());
  ASSERT_TRUE(use(tried.reader)) << "the unbroken file must be read";
  std::vector<FileBytes> originals;
  for (const fs::path& file : tried.files) originals.push_back(content_of(file));
  const Survival outcome = survive(
      count,
      [&](std::uint64_t number) {
        const std::size_t which = number % tried.files.size();
        write_bytes(tried.files[which], mutated(originals[which], number));
        const bool accepted = use(tried.reader);
        write_bytes(tried.files[which], originals[which]);
        return accepted;
      },
      max_bytes, max_seconds);
  EXPECT_EQ(outcome.death, "");
  EXPECT_EQ(outcome.beyond, "");
  EXPECT_GT(outcome.refused, 0u) << "no variant was broken enough: the test cannot fail";
  fmt::print("{:<28} {:>6} read, {:>6} refused, largest allocation {} kB\n", tried.name, outcome.accepted,
             outcome.refused, outcome.largest_allocation / 1000);
}

// A small set in some format, and how it is read.
struct Variant {
  Spec format;
  std::string name;
  Shape shape{8, 6, 3};
  std::vector<std::pair<std::string, Value>> reading{};
};

std::vector<Variant> variants(const std::string& format) {
  if (format == "cifar10") return {{"cifar10", "data_batch_1.bin", Shape{32, 32, 3}}};
  if (format == "hdf5")
    return {{"hdf5", "plain.h5"},
            {"hdf5(gzip=4)", "gzip.h5"},
            {"hdf5(per_file=1, type=int16)", "one_each"},
            {"hdf5(layout=cosmoflow)", "cosmoflow", Shape{4, 4, 4, 4}}};
  if (format == "idx") return {{"idx", "images-idx3-ubyte", Shape{8, 6, 1}}};
  if (format == "images") return {{"images", "pictures"}, {"images", "pictures.tar"}};
  if (format == "lmdb") return {{"lmdb", "base"}};
  if (format == "netcdf")
    return {{"netcdf(kind=classic)", "classic.nc"}, {"netcdf", "four.nc"}, {"netcdf(deflate=1)", "deflated.nc"}};
  if (format == "npy") return {{"npy", "array.npy"}, {"npy(type=uint8)", "arrays.npz"}};
  if (format == "tfrecord")
    return {{"tfrecord(type=int16)", "plain.tfrecord"}, {"tfrecord(gzip=true)", "packed.tfrecord.gz"}};
  if (format == "tokens") return {{"tokens", "stream.bin", Shape{8}, {{"context", 5}}}};
  return {};
}

class MutatedFiles : public testing::TestWithParam<const DatasetRow*> {};

constexpr std::uint64_t few = 120;  // variants of each file in every test run

TEST_P(MutatedFiles, AreReadOrRefused) {
  const std::string format(GetParam()->name);
  ASSERT_FALSE(variants(format).empty()) << "a format that is written and not tested with broken files";
  for (const Variant& variant : variants(format)) {
    const TemporaryFolder folder;
    const fs::path path = folder / variant.name;
    write_set(variant.format, path, numbered_samples(variant.shape, 6));
    auto reading = variant.reading;
    reading.emplace_back("path", path.string());
    expect_survival({variant.format.str() + " " + variant.name, files_below(path), Spec(format, reading)},
                    mutations(few));
  }
}

std::vector<const DatasetRow*> written_formats() {
  std::vector<const DatasetRow*> rows;
  for (const DatasetRow* row : datasets())
    if (row->create) rows.push_back(row);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Formats, MutatedFiles, testing::ValuesIn(written_formats()),
                         [](const auto& format) { return std::string(format.param->name); });

// Checksums hide the inside of a format from random changes: here the records are broken before they are sealed.
TEST(MutatedFiles, ExamplesInsideSoundRecords) {
  const TemporaryFolder folder;
  write_set("tfrecord(type=int16)", folder / "a.tfrecord", numbered_samples(Shape{8, 6, 3}, 1));
  std::vector<std::uint8_t> record;
  {
    files::ByteBuffer scratch;
    const auto first = files::TfrecordFile(folder / "a.tfrecord", 1 << 20).record(0, scratch);
    record.assign(first.begin(), first.end());
  }
  const Spec spec("tfrecord", {{"path", (folder / "b.tfrecord").string()}});
  const Survival outcome = survive(
      mutations(4 * few),
      [&](std::uint64_t number) {
        fs::remove(folder / "b.tfrecord");
        files::TfrecordWriter writer(folder / "b.tfrecord", false);
        writer.write(mutated(record, number));
        writer.commit();
        return use(spec);
      },
      max_bytes, max_seconds);
  EXPECT_EQ(outcome.death, "");
  EXPECT_EQ(outcome.beyond, "");
  EXPECT_GT(outcome.refused, 0u);
  EXPECT_GT(outcome.accepted, 0u);
}

// Compilers remove allocations that nobody sees.
void* kept(void* block) {
  static void* volatile seen = nullptr;
  seen = block;
  return seen;
}

// What is requested from any allocator, by any code, and released or refused at once.
TEST(MutatedFiles, AllocationsBeyondTheBoundAreSeen) {
  const auto seen = [](const std::function<void(std::size_t)>& allocate, std::size_t bytes) {
    const auto use = [&](std::uint64_t) {
      allocate(bytes);
      return true;
    };
    return survive(2, use, max_bytes, max_seconds).beyond;
  };
  const std::pair<const char*, std::function<void(std::size_t)>> ways[] = {
    {"malloc", [](std::size_t n) { std::free(kept(std::malloc(n))); }},
    {"calloc", [](std::size_t n) { std::free(kept(std::calloc(n / 8, 8))); }},
    {"realloc", [](std::size_t n) { std::free(kept(std::realloc(std::malloc(9), n))); }},
#if !defined(__SANITIZE_THREAD__)  // whose hooks leave these out
    {"aligned_alloc", [](std::size_t n) { std::free(kept(std::aligned_alloc(4096, n))); }},
#endif
    {"new", [](std::size_t n) { operator delete(kept(operator new(n, std::nothrow)), std::nothrow); }},
    {"in a library", [](std::size_t n) { H5free_memory(kept(H5allocate_memory(n, false))); }},
    {"in pieces",
     [](std::size_t n) {
       std::vector<std::unique_ptr<char[]>> pieces;
       for (std::size_t i = 0; i < 64; ++i) pieces.push_back(std::make_unique_for_overwrite<char[]>(n / 64));
     }}
  };
  for (const auto& [name, allocate] : ways) {
    EXPECT_EQ(seen(allocate, max_bytes / 2), "") << name;
    EXPECT_HAS(seen(allocate, max_bytes + (max_bytes >> 4)), "variant 0: ") << name;
  }
}

TEST(MutatedFiles, Pictures) {
  const TemporaryFolder folder;
  const FileBytes pixels(20 * 16 * 3, 100);
  for (const auto& [name, content] : {std::pair{std::string("a.jpg"), jpeg_bytes(20, 16, 3, pixels)},
                                      std::pair{std::string("a.png"), png_bytes(20, 16, 3, pixels)}}) {
    const fs::path set = folder / ("set_" + name);
    write_bytes(set / "class" / name, content);
    expect_survival({name, {set / "class" / name}, Spec("images", {{"path", set.string()}})}, mutations(4 * few));
  }
}

}  // namespace
}  // namespace isobar::datasets
