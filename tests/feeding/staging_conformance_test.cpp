// Every kind of staging, on any number of ranks, gives each rank the samples it would read without staging.
#include <numeric>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/datasets/region_dataset.hpp"
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

// Two replicas and more, each of two ranks that share its samples: rows 0 to 3 and 2 to 5 of every x.
TEST(StagingConformance, RanksThatShareSamplesReadTheirRegions) {
  constexpr std::int64_t count = 9;
  const TemporaryFolder files;
  std::vector<float> x(count * 6 * 4), y(count * 2);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = -static_cast<float>(i);
  hdf5::Hdf5File file = hdf5::Hdf5File::create(files / "set.h5");
  file.write<float>("x", Shape{count, 6, 4}, x);
  file.write<float>("y", Shape{count, 2}, y);
  file.commit();
  const Spec set("hdf5", {{"path", Value((files / "set.h5").string())}});
  for (const Row<Staging>* row : stagings())
    for (const int replicas : {1, 2, 3}) {
      SCOPED_TRACE(fmt::format("{} for {} replicas", row->name, replicas));
      const TemporaryFolder folder;
      const auto staging = make(stagings(), spec_of(*row, folder), "staging");
      const datasets::Sampler sampler{.count = count, .batch = 4};
      comm::run_ranks(2 * replicas, [&](comm::Comm& comm) {
        const int part = comm.rank() % 2, replica = comm.rank() / 2;
        const std::shared_ptr<const datasets::Dataset> plain = datasets::make_dataset(set);
        StagingSetting setting;
        for (int r = 0; r < replicas; ++r) setting.peers.push_back(2 * r + part);
        setting.region = datasets::whole_region(plain->fields());
        setting.region[0] = setting.region[0].with(0, 2 * part, 4);
        const Staged staged = staging->stage(set, plain, setting, comm);
        const auto view = datasets::region_of(staged.dataset, setting.region);
        ASSERT_EQ(view->fields()[0].shape, (Shape{4, 4}));
        std::int64_t rows = 0;
        {
          Loader loader(*view, sampler, {.rank = replica, .size = replicas, .last_epoch = 2});
          for (int epoch = 0; epoch < 2; ++epoch)
            while (const Batch* batch = loader.next())
              for (std::int64_t i = 0; i < batch->count; ++i, ++rows) {
                const auto sample = batch->samples[static_cast<std::size_t>(i)];
                const auto wanted = read_region(*plain, sample, setting.region);
                for (std::size_t f = 0; f < 2; ++f) EXPECT_TRUE(std::ranges::equal(batch->fields[f].row(i), wanted[f]));
              }
          EXPECT_EQ(loader.bytes_read(), row->name == "store" ? 0 : rows * (4 * 4 + 2) * 4);
        }
        const std::vector<std::int64_t> all = comm::all_gather_number(comm, rows);
        EXPECT_EQ(std::accumulate(all.begin(), all.end(), std::int64_t{0}), 2 * 2 * count);
        const StagingCounters counters = staged.counters();
        for (const auto& [name, value] : counters) {
          EXPECT_TRUE(name != "samples_read" || value == 2 * count) << value;
          EXPECT_TRUE(name != "bytes_held" || value == 2 * count * (4 * 4 + 2) * 4) << value;
        }
      });
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
