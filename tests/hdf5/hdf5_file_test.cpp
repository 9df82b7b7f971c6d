#include "isobar/hdf5/hdf5_file.hpp"

#include <csignal>
#include <fstream>
#include <numeric>
#include <sys/resource.h>
#include <thread>

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::hdf5 {
namespace {

using namespace isobar::tests;

std::vector<float> counting(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

TEST(Hdf5File, TextsHaveALengthOfTheirOwn) {
  const TemporaryFolder folder;
  {
    Hdf5File file = Hdf5File::create(folder / "a.h5");
    file.make_texts("where/from", 3, 4);
    const std::string rows = "one" + std::string(1, '\0') + "four";
    file.write_rows("where/from", 1, {reinterpret_cast<const std::uint8_t*>(rows.data()), rows.size()});
    file.commit();
  }
  const Hdf5File file = Hdf5File::open(folder / "a.h5");
  EXPECT_EQ(file.shape("where/from"), Shape{3});
  EXPECT_EQ(file.type_name("where/from"), "text");
  std::ifstream in(folder / "a.h5", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(bytes.find(std::string("one\0four", 8)), std::string::npos);
}

TEST(Hdf5File, WhatIsWrittenIsReadBack) {
  const TemporaryFolder folder;
  const std::string long_text(200'000, 'z');
  {
    Hdf5File file = Hdf5File::create(folder / "a.h5");
    file.write<float>("weights/conv1/w", Shape{2, 3}, counting(6));
    file.write<std::int16_t>("x", Shape{4}, std::vector<std::int16_t>{-32768, -1, 0, 32767});
    file.write<double>("scalar", Shape{}, std::vector<double>{0.1});
    file.write<std::int64_t>("big", Shape{1}, std::vector<std::int64_t>{std::int64_t{1} << 62});
    file.write<std::int32_t>("int", Shape{2}, std::vector<std::int32_t>{-5, 70000});
    file.write<std::uint8_t>("byte", Shape{2}, std::vector<std::uint8_t>{0, 255});
    file.write<float>("empty", Shape{0, 3}, {});
    file.write<float>("state/deep/x", Shape{0}, {});
    file.set_text("/", "recipe", "lr = 0.1\nσ_8");
    file.set_text("state", "long", long_text);
    file.set_text("/", "nothing", "");
    file.set_integer("x", "step", -3);
    file.set_real("weights/conv1/w", "lr", 0.1);
    file.commit();
  }
  const Hdf5File file = Hdf5File::open(folder / "a.h5");
  EXPECT_EQ(file.shape("weights/conv1/w"), (Shape{2, 3}));
  std::vector<float> w(6);
  file.read<float>("weights/conv1/w", w);
  EXPECT_EQ(w, counting(6));
  std::vector<std::int16_t> x(4);
  file.read<std::int16_t>("x", x);
  EXPECT_EQ(x, (std::vector<std::int16_t>{-32768, -1, 0, 32767}));
  std::vector<float> converted(4);
  file.read<float>("x", converted);
  EXPECT_EQ(converted, (std::vector<float>{-32768, -1, 0, 32767}));
  std::vector<double> scalar(1);
  file.read<double>("scalar", scalar);
  EXPECT_EQ(scalar[0], 0.1);
  EXPECT_EQ(file.shape("scalar"), Shape{});
  std::vector<std::int64_t> big(1);
  file.read<std::int64_t>("big", big);
  EXPECT_EQ(big[0], std::int64_t{1} << 62);
  std::vector<std::int32_t> whole(2);
  file.read<std::int32_t>("int", whole);
  EXPECT_EQ(whole[1], 70000);
  std::vector<std::uint8_t> byte(2);
  file.read<std::uint8_t>("byte", byte);
  EXPECT_EQ(byte[1], 255);
  EXPECT_EQ(file.shape("empty"), (Shape{0, 3}));
  file.read<float>("empty", {});

  EXPECT_EQ(file.text("/", "recipe"), "lr = 0.1\nσ_8");
  EXPECT_EQ(file.text("state", "long"), long_text);
  EXPECT_EQ(file.text("/", "nothing"), "");
  EXPECT_EQ(file.integer("x", "step"), -3);
  EXPECT_EQ(file.real("weights/conv1/w", "lr"), 0.1);
  EXPECT_TRUE(file.has_attribute("/", "recipe"));
  EXPECT_FALSE(file.has_attribute("/", "step"));
  EXPECT_FALSE(file.has_attribute("absent", "step"));
}

TEST(Hdf5File, SaysWhatItHolds) {
  const TemporaryFolder folder;
  Hdf5File file = Hdf5File::create(folder / "a.h5");
  file.write<float>("b/y", Shape{1}, counting(1));
  file.write<std::int16_t>("b/x", Shape{1}, std::vector<std::int16_t>{1});
  file.write<std::uint8_t>("a", Shape{1}, std::vector<std::uint8_t>{1});
  EXPECT_EQ(file.children("/"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(file.children("b"), (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(file.exists("/"));
  EXPECT_TRUE(file.exists("b/x"));
  EXPECT_TRUE(file.exists("/b/x"));
  EXPECT_FALSE(file.exists("b/z"));
  EXPECT_FALSE(file.exists("c/x"));
  EXPECT_TRUE(file.stored("b/x").fits_int16());
  EXPECT_TRUE(file.stored("a").fits_int16());
  EXPECT_FALSE(file.stored("b/y").fits_int16());
  EXPECT_EQ(file.stored("b/y").kind, files::Stored::Kind::real);
}

TEST(Hdf5File, ReadsRows) {
  const TemporaryFolder folder;
  Hdf5File file = Hdf5File::create(folder / "a.h5");
  file.write<float>("x", Shape{5, 2}, counting(10));
  std::vector<float> rows(4);
  file.read_rows<float>("x", 3, 2, rows);
  EXPECT_EQ(rows, (std::vector<float>{6, 7, 8, 9}));
  const std::string message = error_of([&] { file.read_rows<float>("x", 4, 2, rows); });
  EXPECT_HAS(message, "no rows 4 to 5");
}

TEST(Hdf5File, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  {
    Hdf5File file = Hdf5File::create(folder / "a.h5");
    file.write<float>("x", Shape{1}, counting(1));
    EXPECT_FALSE(std::filesystem::exists(folder / "a.h5"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));

  for (const float value : {1.0f, 2.0f}) {  // a second one replaces the first
    Hdf5File file = Hdf5File::create(folder / "a.h5");
    file.write<float>("x", Shape{1}, std::vector<float>{value});
    Hdf5File moved = std::move(file);
    moved.commit(value == 1.0f);
  }
  std::vector<float> x(1);
  Hdf5File::open(folder / "a.h5").read<float>("x", x);
  EXPECT_EQ(x[0], 2.0f);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Hdf5File, ErrorsNameFileObjectAndAttempt) {
  const TemporaryFolder folder;
  std::string message = error_of([&] { Hdf5File::open(folder / "absent.h5"); });
  EXPECT_HAS(message, "absent.h5: cannot open: there is no such file");
  message = error_of([&] { Hdf5File::open(folder.path()); });
  EXPECT_HAS(message, "is a folder");
  message = error_of([&] { Hdf5File::create(folder / "no/such/folder.h5"); });
  EXPECT_HAS(message, "folder.h5: cannot create: No such file or directory");

  std::ofstream(folder / "text.h5") << "not hdf5";
  message = error_of([&] { Hdf5File::open(folder / "text.h5"); });
  EXPECT_HAS(message, "text.h5: cannot open as an HDF5 file");

  Hdf5File file = Hdf5File::create(folder / "a.h5");
  file.write<float>("x", Shape{2}, counting(2));
  file.set_text("x", "unit", "m");
  std::vector<float> three(3);
  message = error_of([&] { file.read<float>("x", three); });
  EXPECT_HAS(message, "a.h5: 'x' holds 2 numbers (2), 3 were expected");
  message = error_of([&] { file.read<float>("y", three); });
  EXPECT_HAS(message, "a.h5: there is no array 'y'");
  message = error_of([&] { file.write<float>("x", Shape{2}, counting(2)); });
  EXPECT_HAS(message, "a.h5: cannot make array 'x'");
  message = error_of([&] { file.integer("/", "step"); });
  EXPECT_HAS(message, "a.h5: there is no attribute 'step' of '/'");
  message = error_of([&] { file.integer("x", "unit"); });
  EXPECT_HAS(message, "cannot read attribute 'unit' of 'x'");
  message = error_of([&] { file.text("z", "unit"); });
  EXPECT_HAS(message, "there is no 'z'");
}

TEST(Hdf5File, TruncatedFileIsAnError) {
  const TemporaryFolder folder;
  Hdf5File file = Hdf5File::create(folder / "a.h5");
  file.write<float>("x", Shape{5000}, counting(5000));
  file.commit();
  std::filesystem::resize_file(folder / "a.h5", 10'000);
  const std::string message = error_of([&] { Hdf5File::open(folder / "a.h5"); });
  EXPECT_HAS(message, "truncated");
}

// A limit on the size of files stands for a full disk.
TEST(Hdf5File, AFullDiskIsAnErrorAndLeavesNothing) {
  const TemporaryFolder folder;
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limited{100'000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limited), 0);
  const std::string message = error_of([&] {
    Hdf5File file = Hdf5File::create(folder / "a.h5");
    file.write<float>("x", Shape{100'000}, counting(100'000));
    file.commit();
  });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_HAS(message, "a.h5: cannot write 'x': File too large");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));

  Hdf5File file = Hdf5File::create(folder / "a.h5");  // the library still works
  file.write<float>("x", Shape{100'000}, counting(100'000));
  file.commit();
  EXPECT_EQ(Hdf5File::open(folder / "a.h5").shape("x"), Shape{100'000});
}

TEST(Hdf5File, ManyThreadsReadAndWrite) {
  const TemporaryFolder folder;
  Hdf5File shared = Hdf5File::create(folder / "shared.h5");
  shared.write<float>("x", Shape{100, 10}, counting(1000));
  std::vector<int> wrong(4, 0);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const std::string name = "own" + std::to_string(t) + ".h5";
        for (int i = 0; i < 25; ++i) {
          std::vector<float> row(10);
          shared.read_rows<float>("x", 25 * t + i, 1, row);
          wrong[static_cast<std::size_t>(t)] += row[3] != static_cast<float>(10 * (25 * t + i) + 3);
          Hdf5File own = Hdf5File::create(folder / name);
          own.write<float>("x", Shape{10}, row);
          own.commit(false);
        }
      });
  }
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

// The library prints its errors unless each thread tells it not to; here they are in the Error.
TEST(Hdf5File, NoThreadPrintsErrors) {
  const tests::TemporaryFolder folder;
  std::ofstream(folder / "torn.h5") << "\x89HDF\r\n\x1a\n and nothing more";
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) std::jthread([&] { EXPECT_THROW(Hdf5File::open(folder / "torn.h5"), Error); });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace isobar::hdf5
