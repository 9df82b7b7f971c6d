// Which files are opened to make a data set: each once, and with the survey of another rank none but the first.
#include "isobar/datasets/survey.hpp"

#include <fstream>

#include "tests/datasets/written.hpp"
#include "tests/files/made_files.hpp"
#include "tests/opened_files.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;
using Counts = std::map<std::string, int>;

// Three files of a format, and the data set that reads them.
struct SurveyedSet {
  const char* format;
  const char* extension;
  const char* reader;
};

constexpr SurveyedSet sets[] = {
    {"hdf5", ".h5", "hdf5(sample_axis=true)"}, {"hdf5(layout=hep)", ".h5", "hdf5(layout=hep)"},
    {"netcdf", ".nc", "netcdf(y=labels)"},     {"netcdf(kind=classic)", ".nc", "netcdf"},
    {"tfrecord", ".tfrecord", "tfrecord"},     {"tfrecord(gzip=true)", ".tfrecord.gz", "tfrecord"},
    {"npy(type=uint8)", ".npz", "npy"},        {"npy(type=uint8)", "", "npy"},
    {"tokens", ".bin", "tokens(context=5)"},
};

Spec write_three(const SurveyedSet& set, const std::filesystem::path& folder, int samples) {
  const Shape shape = std::string_view(set.format) == "tokens" ? Shape{8} : Shape{3, 4, 2};
  for (int f = 0; f < 3; ++f) {
    Spec format(set.format);
    if (format.name() == "netcdf") format.set("start", fmt::format("200{}-01-01", f));
    const std::string name = fmt::format("{}", f);
    const bool unnamed = set.extension[0] == '\0';
    write_set(format, folder / (name + (unnamed ? ".npz" : set.extension)), numbered_samples(shape, samples));
    if (unnamed) std::filesystem::rename(folder / (name + ".npz"), folder / name);
  }
  Spec reader(set.reader);
  reader.set("path", folder.string());
  return reader;
}

TEST(Survey, EachFileIsOpenedOnceAndWithASurveyOnlyTheFirst) {
  for (const SurveyedSet& set : sets)
    for (const int samples : {1, 6}) {
      SCOPED_TRACE(fmt::format("{}{} {}", set.format, set.extension, samples));
      const TemporaryFolder folder;
      const Spec spec = write_three(set, folder.path(), samples);
      OpenedFiles opened(folder.path());
      Survey survey;
      const auto alone = make_dataset(spec, survey);
      const Counts first = opened.take();
      EXPECT_GE(first.size(), 1u);
      // A file whose name says nothing is looked at before it is read.
      for (const auto& [name, count] : first) EXPECT_LE(count, set.extension[0] == '\0' && name == "0" ? 2 : 1) << name;

      Survey given = Survey::unpack(survey.pack());
      const auto with_survey = make_dataset(spec, given);
      const Counts second = opened.take();
      EXPECT_LE(second.size(), 1u);
      for (const auto& [name, count] : second) EXPECT_EQ(count, 1) << name;
      expect_same(*with_survey, *alone);
      EXPECT_EQ(with_survey->where(alone->size() - 1), alone->where(alone->size() - 1));
    }
}

TEST(Survey, WithOneSampleAFileNoOtherIsOpened) {
  const TemporaryFolder folder;
  write_set("hdf5(per_file=1)", folder / "set", numbered_samples(Shape{3, 4, 2}, 5));
  OpenedFiles opened(folder / "set");
  make_dataset(Spec("hdf5", {{"path", (folder / "set").string()}}));
  EXPECT_EQ(opened.take(), (Counts{{"00000000.h5", 1}}));
}

TEST(Survey, AutoLooksAtTheFirstFileOnOneRankOnly) {
  const TemporaryFolder folder;
  write_three({"tfrecord", ".tfrecord", "tfrecord"}, folder.path(), 4);
  const Spec spec("auto", {{"path", folder.path().string()}});
  OpenedFiles opened(folder.path());
  Survey survey;
  make_dataset(spec, survey);
  EXPECT_EQ(opened.take(), (Counts{{"0.tfrecord", 2}, {"1.tfrecord", 1}, {"2.tfrecord", 1}}));
  make_dataset(spec, survey);
  EXPECT_EQ(opened.take(), (Counts{{"0.tfrecord", 1}}));
}

TEST(Survey, AVariableInFilesOfItsOwnIsLookedUpThere) {
  const TemporaryFolder folder;
  write_set("netcdf(names=[a, b])", folder / "0.nc", numbered_samples(Shape{3, 4, 2}, 4));
  write_set("netcdf(names=[c, d])", folder / "1.nc", numbered_samples(Shape{3, 4, 2}, 4));
  const Spec spec("netcdf", {{"path", folder.path().string()}, {"x", std::vector<Value>{"d", "a", "c"}}});
  OpenedFiles opened(folder.path());
  Survey survey;
  const auto alone = make_dataset(spec, survey);
  EXPECT_EQ(opened.take(), (Counts{{"0.nc", 1}, {"1.nc", 1}}));
  const auto with_survey = make_dataset(spec, survey);
  EXPECT_EQ(opened.take(), (Counts{{"0.nc", 1}, {"1.nc", 1}}));
  expect_same(*with_survey, *alone);
}

TEST(Survey, OtherQuestionsAndChangedFilesAreLookedAtAnew) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "a";
  std::ofstream(file) << "abc";
  Survey survey;
  int looked = 0;
  const auto number = [&](std::string_view question) {
    return survey.number(question, file, [&] { return ++looked; });
  };
  EXPECT_EQ(number("lines"), 1);
  EXPECT_EQ(number("lines"), 1);
  EXPECT_EQ(number("words"), 2);
  std::ofstream(file, std::ios::app) << "d";
  EXPECT_EQ(number("lines"), 3);
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(number("lines"), 4);
  std::filesystem::remove(file);
  EXPECT_EQ(number("lines"), 5);
  EXPECT_EQ(number("lines"), 6) << "nothing is noted about a file that is not there";
}

TEST(Survey, AFileThatChangedSinceIsNamedWhenItIsRead) {
  const TemporaryFolder folder;
  const Spec spec = write_three({"hdf5", ".h5", "hdf5(sample_axis=true)"}, folder.path(), 4);
  Survey survey;
  make_dataset(spec, survey);
  const auto dataset = make_dataset(spec, survey);
  std::filesystem::remove(folder / "1.h5");
  write_set("hdf5", folder / "1.h5", numbered_samples(Shape{3, 4, 2}, 3));
  EXPECT_HAS(error_of([&] { read_sample(*dataset, 5); }), "1.h5: holds 3 samples, there were 4");
}

}  // namespace
}  // namespace isobar::datasets
