// Every kind of staging, on any number of ranks, gives each rank the samples it would read without staging.
#include "isobar/comm/local_comm.hpp"
#include "isobar/feeding/loader.hpp"
#include "isobar/feeding/staging.hpp"
#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::feeding {
namespace {

using namespace isobar::tests;

// Seven files with one sample each.
Spec make_files(const TemporaryFolder& folder) {
  std::filesystem::create_directories(folder / "set");
  for (int i = 0; i < 7; ++i) {
    hdf5::Hdf5File out = hdf5::Hdf5File::create(folder / fmt::format("set/{}.h5", i));
    const auto number = static_cast<float>(i);
    out.write<float>("x", Shape{2}, std::vector<float>{number, number * number});
    out.write<float>("y", Shape{1}, std::vector<float>{-number});
    out.commit();
  }
  return Spec("hdf5", {{"path", Value((folder / "set").string())}});
}

Spec spec_of(const Row<Staging>& row, const TemporaryFolder& folder) {
  Spec spec{std::string(row.name)};
  if (row.name == "files") spec.set("to", Value((folder / "near").string()));
  return spec;
}

TEST(StagingConformance, AllRanksReadTheSamplesOfTheSet) {
  for (const Row<Staging>* row : stagings()) {
    for (const int ranks : {1, 2, 5}) {
      const TemporaryFolder folder;
      const Spec set = make_files(folder);
      const auto staging = make(stagings(), spec_of(*row, folder), "staging");
      const datasets::Sampler sampler{.count = 7, .batch = 3};
      comm::run_ranks(ranks, [&](comm::Comm& comm) {
        const std::shared_ptr<const datasets::Dataset> plain = datasets::make_dataset(set);
        const Staged staged = staging->stage(set, plain, {.readers = 2}, comm);
        EXPECT_EQ(staged.dataset->size(), 7);
        EXPECT_EQ(staged.dataset->fields()[0].shape, plain->fields()[0].shape);
        const LoaderOptions options{.threads = 2, .rank = comm.rank(), .size = ranks, .last_epoch = 2};
        Loader there(*plain, sampler, options), here(*staged.dataset, sampler, options);
        for (int epoch = 0; epoch < 2; ++epoch) {
          for (;;) {
            const Batch *a = there.next(), *b = here.next();
            ASSERT_EQ(a == nullptr, b == nullptr) << row->name;
            if (!a) break;
            EXPECT_EQ(a->samples, b->samples);
            for (std::size_t f = 0; f < 2; ++f)
              EXPECT_TRUE(std::ranges::equal(a->fields[f].span(), b->fields[f].span()));
          }
        }
        EXPECT_EQ(staged.counters().empty(), row->name == "none");
      });
    }
  }
}

TEST(StagingConformance, ATestSetIsAlwaysWhole) {
  const TemporaryFolder folder;
  const Spec set = make_files(folder);
  const auto quota =
      make(stagings(),
           Spec("files", {{"to", Value((folder / "near").string())}, {"scheme", Value("quota")}, {"quota", Value(2)}}),
           "staging");
  const auto comm = comm::alone();
  EXPECT_EQ(quota->stage(set, datasets::make_dataset(set), {}, *comm).dataset->size(), 2);
  EXPECT_EQ(quota->stage(set, datasets::make_dataset(set), {.evaluation = true}, *comm).dataset->size(), 7);
}

}  // namespace
}  // namespace isobar::feeding
