// isobar data inspect: the contents of a file, a folder or a data set, and the recipe lines that would read it.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/cli/data.hpp"
#include "isobar/cli/data_source.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/pictures/contact_sheet.hpp"

namespace isobar::cli {
namespace {

constexpr std::size_t most_parts = 40;

struct InspectRequest {
  std::string what, picture;
  std::vector<std::string> transforms;
  std::int64_t samples = 3;
  bool draw = false;
};

void print_parts(const datasets::Contents& contents) {
  fmt::print("{}\n", contents.summary);
  const std::size_t shown = std::min(contents.parts.size(), most_parts);
  std::size_t name_width = 0, shape_width = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    name_width = std::max(name_width, contents.parts[i].name.size());
    shape_width = std::max(shape_width, contents.parts[i].shape.size());
  }
  for (std::size_t i = 0; i < shown; ++i) {
    const datasets::FilePart& part = contents.parts[i];
    fmt::print("  {:<{}}  {:<{}}  {}{}{}\n", part.name, name_width, part.shape, shape_width, part.type,
               part.note.empty() ? "" : "; ", part.note);
  }
  if (contents.parts.size() > shown) fmt::print("  ... and {} more\n", contents.parts.size() - shown);
}

struct Spread {
  double low = std::numeric_limits<double>::infinity(), sum = 0, high = -low;
  std::int64_t count = 0, skipped = 0;
};

Spread spread_of(std::span<const float> values) {
  Spread spread;
  for (const double v : values) {
    if (!std::isfinite(v)) {
      ++spread.skipped;
      continue;
    }
    spread.low = std::min(spread.low, v);
    spread.high = std::max(spread.high, v);
    spread.sum += v;
    ++spread.count;
  }
  return spread;
}

void print_samples(const datasets::Dataset& dataset, std::int64_t wanted) {
  const std::vector<datasets::Field> fields = dataset.fields();
  fmt::print("{} sample{}\n", with_commas(dataset.size()), dataset.size() == 1 ? "" : "s");
  for (const datasets::Field& field : fields)
    fmt::print("  {:<4} {}, {} a sample\n", field.name, field.shape.str(),
               human_bytes(static_cast<double>(field.shape.count()) * sizeof(float)));
  if (const auto names = dataset.channels(); !names.empty())
    fmt::print("  channels: {}\n", one_line(join(names, ", "), 400));
  if (const auto names = dataset.classes(); !names.empty())
    fmt::print("  {} classes: {}\n", names.size(), one_line(join(names, ", "), 400));
  std::vector<std::vector<float>> memory;
  for (const datasets::Field& field : fields) memory.emplace_back(static_cast<std::size_t>(field.shape.count()));
  const std::vector<std::span<float>> out(memory.begin(), memory.end());
  for (std::int64_t i = 0; i < std::min(wanted, dataset.size()); ++i) {
    try {
      dataset.read(i, out);
    } catch (const Error& problem) {
      fail("reading {}: {}", dataset.where(i), problem.what());
    }
    fmt::print("\n{}\n", dataset.where(i));
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const Spread spread = spread_of(out[f]);
      fmt::print("  {:<4} min {:<10.4g} mean {:<10.4g} max {:<10.4g}", fields[f].name, spread.low,
                 spread.sum / static_cast<double>(spread.count), spread.high);
      if (out[f].size() <= 8) fmt::print(" [{:.4g}]", fmt::join(out[f], ", "));
      if (spread.skipped > 0) fmt::print(" {} not finite", with_commas(spread.skipped));
      fmt::print("\n");
    }
  }
}

// "universe/train/" -> "train.png", "hdf5(path=...)" -> "hdf5.png".
std::string picture_name(const InspectRequest& request, bool is_path) {
  if (!request.picture.empty()) return request.picture;
  if (!is_path) return Spec(request.what).name() + ".png";
  std::filesystem::path path = std::filesystem::path(request.what).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string stem = path.stem().string();
  return (stem.empty() || stem[0] == '.' ? "data" : stem) + ".png";
}

void draw(const datasets::Dataset& dataset, const std::string& file) {
  if (std::filesystem::exists(file)) fail("{}: exists already; --picture FILE gives the picture another name", file);
  const pictures::ContactSheet sheet = pictures::contact_sheet(dataset, 16);
  const std::vector<std::uint8_t> bytes = files::encode_png(sheet.picture);
  disk::write_text(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  fmt::print("\n{}: {}\n", file, sheet.legend);
}

void inspect(const InspectRequest& request) {
  const DataSource source = find_source(request.what);
  if (source.contents) {
    print_parts(*source.contents);
    if (!source.spec) {
      fmt::print("\nNo data set reads it{}{}\n", source.obstacle.empty() ? "" : ": ", source.obstacle);
      return;
    }
  }
  const auto dataset = open_data(*source.spec, request.transforms);
  if (source.contents) fmt::print("\nAs {}: ", source.spec->str());
  print_samples(*dataset, request.samples);
  if (request.draw) draw(*dataset, picture_name(request, source.contents.has_value()));
  if (!source.contents) return;
  fmt::print("\nIn a recipe:\n\n[data]\ntrain = \"{}\"\n", source.spec->str());
  for (std::size_t i = 1; i < source.contents->readers.size(); ++i)
    fmt::print("# or: train = \"{}\"\n", source.contents->readers[i].str());
}

}  // namespace

void declare_inspect(CLI::App& data) {
  CLI::App& command =
      *data.add_subcommand("inspect", "what is inside a file, folder or data set, and how a recipe reads it");
  const auto request = std::make_shared<InspectRequest>();
  command
      .add_option("DATA", request->what,
                  "a file, a folder or a data set such as 'hdf5(path=train)'; see 'isobar list datasets'")
      ->required();
  command.add_option("--samples", request->samples, "how many to look into")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(0, 1000).description(""));
  CLI::Option* picture =
      command.add_option("--picture", request->picture, "draw the first samples, to FILE or else to NAME.png here")
          ->expected(0, 1)
          ->type_name("[FILE]");
  command
      .add_option("--transform", request->transforms,
                  "see the samples through a transform, such as 'log1p'; can be repeated")
      ->type_name("SPEC")
      ->allow_extra_args(false);
  command.callback([request, picture] {
    request->draw = picture->count() > 0;
    inspect(*request);
  });
}

}  // namespace isobar::cli
