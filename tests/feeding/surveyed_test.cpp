// Data sets made by all ranks of a group: one of them looks into every file, and an error is that of every rank.
#include "isobar/feeding/surveyed.hpp"

#include <mutex>

#include "isobar/comm/local_comm.hpp"

#include "tests/datasets/written.hpp"
#include "tests/opened_files.hpp"

namespace isobar::feeding {
namespace {

using namespace isobar::tests;

Spec three_files(const std::filesystem::path& folder) {
  for (int f = 0; f < 3; ++f)
    datasets::write_set("hdf5", folder / fmt::format("{}.h5", f), datasets::numbered_samples(Shape{3, 4, 2}, 5));
  return Spec("hdf5", {{"path", folder.string()}, {"sample_axis", true}});
}

TEST(Surveyed, EveryFileIsOpenedByOneRankAndTheFirstByAll) {
  const TemporaryFolder folder;
  const Spec spec = three_files(folder.path());
  OpenedFiles opened(folder.path());
  comm::run_ranks(4, [&](comm::Comm& comm) {
    datasets::Survey survey;
    const auto made = surveyed(survey, comm, [&] { return datasets::make_dataset(spec, survey); });
    EXPECT_EQ(made->size(), 15);
  });
  const auto counts = opened.take();
  EXPECT_LE(counts.at("0.h5"), 4);
  EXPECT_EQ(counts.at("1.h5"), 1);
  EXPECT_EQ(counts.at("2.h5"), 1);
}

TEST(Surveyed, AnErrorIsThatOfEveryRank) {
  const TemporaryFolder folder;
  const Spec spec = three_files(folder.path());
  std::filesystem::resize_file(folder / "1.h5", 600);
  std::mutex mutex;
  std::vector<std::string> messages;
  comm::run_ranks(3, [&](comm::Comm& comm) {
    datasets::Survey survey;
    const std::string message =
        error_of([&] { surveyed(survey, comm, [&] { return datasets::make_dataset(spec, survey); }); });
    const std::lock_guard lock(mutex);
    messages.push_back(message);
  });
  ASSERT_EQ(messages.size(), 3u);
  for (const std::string& message : messages) EXPECT_HAS(message, "1.h5: cannot open as an HDF5 file: truncated");
}

TEST(Surveyed, AWrongCallIsOneOnEveryRank) {
  comm::run_ranks(2, [&](comm::Comm& comm) {
    datasets::Survey survey;
    EXPECT_THROW(surveyed(survey, comm, [&] { return datasets::make_dataset("nosie", survey); }), UsageError);
  });
}

}  // namespace
}  // namespace isobar::feeding
