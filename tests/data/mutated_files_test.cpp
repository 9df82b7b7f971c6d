// Hostile files: of every format that can be written, and some made by hand, many broken variants are looked into,
// opened and read. Each is read or refused with an Error: no crash, no hang, no allocation beyond a bound. A short
// version runs with all tests; `make mutate` runs 10,000 variants of each under the address sanitizer.
#include <fstream>

#include "isobar/data/format.hpp"

#include "tests/data/samples.hpp"
#include "tests/files/made_files.hpp"
#include "tests/mutation.hpp"

namespace isobar::data {
namespace {

using namespace isobar::tests;
namespace fs = std::filesystem;

// A file of a few kilobytes justifies no more; inflating may turn 1 byte into 1,000, and libraries have caches.
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 28;
constexpr unsigned max_seconds = 30;
constexpr std::int64_t max_numbers = std::int64_t{1} << 22;  // of a field that is then read

struct Case {
  std::string name;
  std::vector<fs::path> files;  // below the folder; variants break one of them
  Spec reader;                  // with a path inside the folder
};

FileBytes content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Whether everything could be read; what the file's sender may be told is an Error, all else flies on.
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
  EXPECT_LT(outcome.largest_allocation, max_bytes);
  EXPECT_GT(outcome.refused, 0u) << "no variant was broken enough: the test cannot fail";
  fmt::print("{:<28} {:>6} read, {:>6} refused, largest allocation {} kB\n", tried.name, outcome.accepted,
             outcome.refused, outcome.largest_allocation / 1000);
}

// One small set in the given format: x whole numbers that every format can hold, y a class.
Case written(const fs::path& folder, const Spec& format, const std::string& name, const Shape& shape,
             std::vector<std::pair<std::string, Value>> arguments = {}) {
  const fs::path path = folder / name;
  const auto writer = make_writer(format, path, {{{"x", shape}, {"y", Shape{1}}}, 6, {"one", "two", "three"}});
  std::vector<float> x(static_cast<std::size_t>(shape.count())), y(1);
  for (int s = 0; s < 6; ++s) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(s)) % 200);
    y[0] = static_cast<float>(s % 3);
    const std::vector<std::span<const float>> fields{x, y};
    writer->write(fields);
  }
  writer->finish();
  arguments.insert(arguments.begin(), {"path", path.string()});
  return {format.str(), files_below(path), Spec(format.name(), std::move(arguments))};
}

constexpr std::uint64_t few = 150;  // variants of each file in every test run

TEST(MutatedFiles, EveryFormatThatCanBeWritten) {
  for (const DatasetRow* row : datasets()) {
    if (!row->create) continue;
    const TemporaryFolder folder;
    const std::string name(row->name);
    expect_survival(written(folder.path(), Spec(name, {}), "set", Shape{32, 32, 3}), mutations(few));
  }
}
