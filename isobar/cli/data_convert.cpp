// isobar data convert: the samples of any data set written in another format.
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/text.hpp"
#include "isobar/cli/data.hpp"
#include "isobar/cli/data_source.hpp"
#include "isobar/feeding/loader.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

namespace fs = std::filesystem;

struct ConvertRequest {
  std::string from, to, format;
  std::vector<std::string> transforms;
  std::int64_t samples = 0;
  int threads = 0;
};

struct Ending {
  std::string_view ending, format;
};

// Longer endings come before those that they end in.
constexpr Ending endings[] = {{".tfrecord.gz", "tfrecord(gzip=true)"},
                              {".tfrecords.gz", "tfrecord(gzip=true)"},
                              {".tfrecord", "tfrecord"},
                              {".tfrecords", "tfrecord"},
                              {".h5", "hdf5"},
                              {".hdf5", "hdf5"},
                              {".nc", "netcdf"},
                              {".npy", "npy"},
                              {".npz", "npy"},
                              {".lmdb", "lmdb"},
                              {".tar", "images"}};

Spec format_for(const ConvertRequest& request) {
  if (!request.format.empty()) return request.format;
  std::vector<std::string> known;
  for (const Ending& one : endings) {
    if (request.to.ends_with(one.ending)) return one.format;
    known.emplace_back(one.ending);
  }
  fail_usage("{}: its ending is not that of a format ({}); name one, as in --as hdf5", request.to, join(known, " "));
}

void convert(const ConvertRequest& request) {
  const Spec format = format_for(request);
  const fs::path to = request.to;
  const fs::path folder = to.has_parent_path() ? to.parent_path() : fs::path(".");
  if (!fs::is_directory(folder)) fail("{}: the folder {} does not exist", request.to, folder.string());
  const auto dataset = open_source(request.from, request.transforms);
  const std::int64_t all = request.samples > 0 ? std::min(request.samples, dataset->size()) : dataset->size();
  const datasets::Outline outline{dataset->fields(), all, dataset->classes(), dataset->channels()};
  const double begin = now_seconds();
  catch_signals();
  {
    const auto writer = datasets::make_writer(format, to, outline);
    record::StatusLine line(record::Screen::of(stdout));
    const auto progress = shown_on(line);
    const int threads = threads_or_all(request.threads);
    feeding::Loader loader(*dataset, {.count = all, .batch = 1, .shuffle = false},
                           {.threads = threads, .ahead = 2 * threads});
    std::vector<std::span<const float>> fields;
    for (std::int64_t done = 0; const feeding::Batch* batch = loader.next();) {
      if (stop_requested()) fail("stopped: nothing was written to {}", request.to);
      fields.clear();
      for (const Tensor& field : batch->fields) fields.push_back(field.row(0));
      try {
        writer->write(fields);
      } catch (const Error& problem) {
        fail("writing {} to {}: {}", dataset->where(batch->samples[0]), request.to, problem.what());
      }
      progress(++done, all);
    }
    writer->finish();
  }
  fmt::print("{}: {} samples as {} in {}\nIn a recipe:\n\n[data]\n", request.to, with_commas(all), format.str(),
             human_seconds(now_seconds() - begin));
  const DataSource written = find_source(request.to);
  if (written.spec) fmt::print("train = \"{}\"\n", written.spec->str());
}

}  // namespace

void declare_convert(CLI::App& data) {
  CLI::App& command = *data.add_subcommand("convert", "write a data set in another format");
  std::vector<std::string> formats;
  for (const datasets::DatasetRow* row : datasets::datasets())
    if (row->create) formats.emplace_back(row->name);
  command.footer(
      "Formats that can be written: " + join(formats, ", ") +
      ".\nSamples are read by many threads and written in order. The target must not exist. A conversion that is\n"
      "stopped or fails leaves no files.");
  const auto request = std::make_shared<ConvertRequest>();
  command.add_option("FROM", request->from, "a file, a folder or a data set such as 'hdf5(path=train)'")->required();
  command.add_option("TO", request->to, "the file or folder to write")->required();
  command
      .add_option("--as", request->format,
                  "the format and how to write it, such as 'hdf5' or 'tfrecord(gzip=true)';"
                  " without it the ending of TO decides")
      ->type_name("SPEC");
  add_reading_options(command, request->samples, request->threads, request->transforms);
  command.callback([request] { convert(*request); });
}

}  // namespace isobar::cli
