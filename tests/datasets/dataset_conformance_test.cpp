// Every data set of the catalogue: samples are the same in any order, from any thread and from a second instance.
#include <map>
#include <thread>

#include "isobar/datasets/dataset.hpp"

#include "tests/datasets/dataset_instances.hpp"
#include "tests/datasets/samples.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

TEST(Datasets, ConformToTheContract) {
  for (const DatasetRow* row : datasets()) {
    SCOPED_TRACE(std::string(row->name));
    EXPECT_FALSE(row->summary.empty());
    const TemporaryFolder folder;
    const std::vector<Spec> specs = dataset_instances(std::string(row->name), folder);
    ASSERT_FALSE(specs.empty()) << "a dataset without an instance to test";
    for (const Spec& spec : specs) {
      SCOPED_TRACE(spec.str());
      const auto dataset = make_dataset(spec), second = make_dataset(spec), third = make_dataset(spec);
      const std::int64_t size = dataset->size();
      ASSERT_GT(size, 1);
      ASSERT_EQ(dataset->fields().size(), 2u);
      EXPECT_EQ(dataset->fields()[0].name, "x");
      EXPECT_EQ(dataset->fields()[1].name, "y");

      std::vector<std::vector<std::vector<float>>> sequential;
      for (std::int64_t i = 0; i < size; ++i) sequential.push_back(read_sample(*dataset, i));
      EXPECT_NE(sequential[0], sequential[1]);
      for (std::int64_t i = size - 1; i >= 0; --i)
        EXPECT_EQ(read_sample(*second, i), sequential[static_cast<std::size_t>(i)]);
      EXPECT_NE(dataset->where(0), dataset->where(1));

      std::vector<int> wrong(4, 0);
      {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < wrong.size(); ++t)
          threads.emplace_back([&, t] {
            for (std::int64_t k = 0; k < size; ++k) {
              const std::int64_t i = (k * 7 + static_cast<std::int64_t>(t)) % size;
              wrong[t] += read_sample(*third, i) != sequential[static_cast<std::size_t>(i)];
            }
          });
      }
      EXPECT_EQ(wrong, std::vector<int>(4, 0));
      EXPECT_THROW(read_sample(*dataset, size), std::logic_error);
      EXPECT_THROW(dataset->read(0, {}), std::logic_error);
    }
  }
}

TEST(Datasets, UnknownNamesAndArgumentsAreAnswered) {
  EXPECT_HAS(error_of([] { make_dataset("zarr(path=a)"); }),
             "hdf5, idx, images, join, lmdb, mnist, netcdf, noise, npy, tfrecord, tokens, universe");
  EXPECT_HAS(error_of([] { make_dataset("univers"); }), "did you mean 'universe'");
  EXPECT_HAS(error_of([] { make_dataset("noise(cuont=3)"); }), "did you mean 'count'");
  EXPECT_HAS(error_of([] { make_dataset("hdf5(path=absent, lgo=true)"); }), "did you mean 'log'");
  EXPECT_HAS(error_of([] { make_dataset("hdf5"); }), "'path'");
}

}  // namespace
}  // namespace isobar::datasets
