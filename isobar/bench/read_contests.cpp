// The contests of level 0 for data. Peers are what a careful engineer would write for this one task, with read(2), zlib
// and libjpeg-turbo, and h5py, which most people use.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <jpeglib.h>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <zlib.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/random.hpp"
#include "isobar/bench/contestant.hpp"
#include "isobar/bench/made_samples.hpp"
#include "isobar/bench/reads.hpp"
#include "isobar/datasets/format.hpp"

namespace isobar::bench {
namespace {

namespace fs = std::filesystem;

/// All samples of a data set, read by several threads into their own memory, as the loader's readers would.
class AllSamples {
 public:
  AllSamples(const Spec& spec, int threads) : dataset_(datasets::make_dataset(spec)) {
    for (int t = 0; t < threads; ++t) {
      std::vector<std::vector<float>>& fields = memory_.emplace_back();
      for (const datasets::Field& field : dataset_->fields()) fields.emplace_back(field.shape.count());
    }
  }

  double run() {
    const double begin = now_seconds();
    std::atomic<std::int64_t> next = 0;
    std::mutex guard;
    std::exception_ptr error;
    const auto work = [&](std::vector<std::vector<float>>& fields) {
      const std::vector<std::span<float>> out(fields.begin(), fields.end());
      try {
        for (std::int64_t i = next++; i < dataset_->size(); i = next++) dataset_->read(i, out);
      } catch (...) {
        const std::lock_guard lock(guard);
        error = std::current_exception();
      }
    };
    {
      std::vector<std::jthread> others;
      for (std::size_t t = 1; t < memory_.size(); ++t) others.emplace_back(work, std::ref(memory_[t]));
      work(memory_[0]);
    }
    if (error) std::rethrow_exception(error);
    return now_seconds() - begin;
  }

  /// Bytes of all fields of all samples, as floats.
  double bytes() const {
    double sum = 0;
    for (const datasets::Field& field : dataset_->fields()) sum += static_cast<double>(field.shape.count());
    return sum * sizeof(float) * static_cast<double>(dataset_->size());
  }

 private:
  std::unique_ptr<datasets::Dataset> dataset_;
  std::vector<std::vector<std::vector<float>>> memory_;
};

// Half the resolution of the climate data set, in each direction.
std::vector<datasets::Field> frame() { return {{"x", Shape{384, 576, 16}}, {"y", Shape{1}}}; }

double read_whole(const fs::path& path, std::vector<char>& piece) {
  const double begin = now_seconds();
  const int file = ::open(path.c_str(), O_RDONLY);
  if (file < 0) fail("{}: {}", path.string(), std::strerror(errno));
  while (::read(file, piece.data(), piece.size()) > 0) {
  }
  ::close(file);
  return now_seconds() - begin;
}

ReadContest uncompressed_hdf5(const ReadOptions& options) {
  const fs::path path = options.scratch / "plain.h5";
  write_samples("hdf5", path, frame(), 0, 2 * options.scale, weather);
  const auto ours = std::make_shared<AllSamples>(Spec("hdf5", {{"path", path.string()}}), 1);
  const auto piece = std::make_shared<std::vector<char>>((frame()[0].shape.count()) * sizeof(float));
  return {"HDF5, uncompressed",
          "isobar, 1 thread",
          "read(2) of the same bytes",
          0.8,
          ours->bytes(),
          [ours] { return ours->run(); },
          [path, piece] { return read_whole(path, *piece); }};
}

ReadContest gzipped_hdf5(const ReadOptions& options) {
  const fs::path path = options.scratch / "gzip.h5";
  write_samples("hdf5(gzip=4)", path, frame(), 0, options.scale, weather);
  const auto ours = std::make_shared<AllSamples>(Spec("hdf5", {{"path", path.string()}}), options.threads);
  const auto peer = std::make_shared<Contestant>(std::vector<std::string>{
      "/usr/bin/python3", options.peers + "/h5py_read.py", "--file", path.string(), "--array", "x"});
  return {"HDF5, gzip chunks",
          fmt::format("isobar, {} threads", options.threads),
          peer->name(),
          1.7,
          ours->bytes(),
          [ours] { return ours->run(); },
          [peer] { return peer->steps(1)[0]; }};
}

double inflate_all(const std::vector<fs::path>& paths, std::vector<char>& piece) {
  const double begin = now_seconds();
  for (const fs::path& path : paths) {
    gzFile file = gzopen(path.c_str(), "rb");
    if (!file) fail("{}: cannot be opened", path.string());
    gzbuffer(file, 1 << 18);
    while (gzread(file, piece.data(), piece.size()) > 0) {
    }
    gzclose(file);
  }
  return now_seconds() - begin;
}

ReadContest gzipped_tfrecord(const ReadOptions& options) {
  const fs::path folder = options.scratch / "tfrecord";
  fs::create_directories(folder);
  std::vector<fs::path> paths;
  for (int f = 0; f < 2 * options.scale; ++f) {
    paths.push_back(folder / fmt::format("{:03}.tfrecord", f));
    write_samples("tfrecord(gzip=true, type=int16)", paths.back(), {{"x", Shape{128, 128, 64, 4}}, {"y", Shape{1}}}, f,
                  1, particles);
  }
  const Spec reader("tfrecord", {{"path", folder.string()},
                                 {"shape", std::vector<Value>{128, 128, 64, 4}},
                                 {"type", Value("int16")},
                                 {"log", true}});
  const auto ours = std::make_shared<AllSamples>(reader, options.threads);
  const auto piece = std::make_shared<std::vector<char>>(std::size_t{1} << 20);
  return {"TFRecord, gzip",
          fmt::format("isobar, {} threads", options.threads),
          "zlib inflating, 1 thread",
          1.5,
          ours->bytes(),
          [ours] { return ours->run(); },
          [paths, piece] { return inflate_all(paths, *piece); }};
}

// A picture with shapes and grain, like a photograph, as a JPEG file of good quality.
std::vector<unsigned char> picture(int number, int height, int width) {
  std::vector<unsigned char> pixels(height * width * 3);
  const Random random(3, number);
  for (int i = 0; i < height * width; ++i)
    for (int c = 0; c < 3; ++c) {
      const double row = i / width, column = i % width;
      const double shape = 90 * std::sin(row * 0.02 * (c + 1) + number) * std::cos(column * 0.017 * (c + 1));
      const double grain = 16 * random.uniform(3 * i + c);
      pixels[3 * i + c] = static_cast<unsigned char>(120 + shape + grain);
    }
  jpeg_compress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long bytes = 0;
  jpeg_mem_dest(&info, &memory, &bytes);
  info.image_height = static_cast<JDIMENSION>(height);
  info.image_width = static_cast<JDIMENSION>(width);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 90, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW line = pixels.data() + static_cast<std::size_t>(info.next_scanline) * static_cast<std::size_t>(width) * 3;
    jpeg_write_scanlines(&info, &line, 1);
  }
  jpeg_finish_compress(&info);
  std::vector<unsigned char> file(memory, memory + bytes);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return file;
}

// Also converts to floats, line by line, as a network needs them.
double decode_all(const std::vector<fs::path>& paths, std::vector<float>& out) {
  std::vector<unsigned char> pixels;
  const double begin = now_seconds();
  for (const fs::path& path : paths) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
    if (!file) fail("{}: cannot be opened", path.string());
    jpeg_decompress_struct info{};
    jpeg_error_mgr errors;
    info.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&info);
    jpeg_stdio_src(&info, file.get());
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info);
    pixels.resize(std::size_t{info.output_width} * 3);
    while (info.output_scanline < info.output_height) {
      float* const to = out.data() + info.output_scanline * pixels.size();
      JSAMPROW line = pixels.data();
      jpeg_read_scanlines(&info, &line, 1);
      for (std::size_t i = 0; i < pixels.size(); ++i) to[i] = static_cast<float>(pixels[i]);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
  }
  return now_seconds() - begin;
}

ReadContest jpeg_pictures(const ReadOptions& options) {
  constexpr int height = 375, width = 500;
  const fs::path folder = options.scratch / "pictures";
  fs::create_directories(folder / "some");
  std::vector<fs::path> paths;
  for (int i = 0; i < 24 * options.scale; ++i) {
    const std::vector<unsigned char> file = picture(i, height, width);
    paths.push_back(folder / "some" / fmt::format("{:04}.jpg", i));
    std::ofstream out(paths.back(), std::ios::binary);
    out.write(reinterpret_cast<const char*>(file.data()), file.size());
  }
  const auto ours = std::make_shared<AllSamples>(Spec("images", {{"path", folder.string()}}), options.threads);
  const auto out = std::make_shared<std::vector<float>>(std::size_t{height} * width * 3);
  return {"JPEG pictures of 375 x 500",
          fmt::format("isobar, {} threads, to floats", options.threads),
          "libjpeg-turbo, 1 thread, to floats",
          1.9,
          ours->bytes(),
          [ours] { return ours->run(); },
          [paths, out] { return decode_all(paths, *out); }};
}

}  // namespace

std::vector<ReadContest> read_contests(const ReadOptions& options) {
  std::vector<ReadContest> contests{uncompressed_hdf5(options)};
  if (!options.peers.empty()) contests.push_back(gzipped_hdf5(options));
  contests.push_back(gzipped_tfrecord(options));
  contests.push_back(jpeg_pictures(options));
  return contests;
}

}  // namespace isobar::bench
