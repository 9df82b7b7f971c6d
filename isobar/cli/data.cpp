// isobar data: makes data sets and looks into them. A generator is one subcommand of `make`, declared below.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/text.hpp"
#include "isobar/cli/data_tokenize.hpp"
#include "isobar/cli/verb.hpp"
#include "isobar/data/dataset.hpp"
#include "isobar/data/make_universe.hpp"
#include "isobar/report/status_line.hpp"

namespace isobar::cli {
namespace {

namespace fs = std::filesystem;

struct UniverseRequest {
  std::string out;
  data::UniverseFiles what{};
};

// A function that shows how far the work is; samples that were there before count for nothing in the rate.
auto shown_on(report::StatusLine& line) {
  return [&line, begin = now_seconds(), first = std::int64_t{-1}](std::int64_t done, std::int64_t all) mutable {
    if (first < 0) first = done;
    if (!line.due()) return;
    const double seconds = now_seconds() - begin, made = static_cast<double>(done - first);
    std::string text =
        fmt::format("{} {}/{} samples", report::bar(static_cast<double>(done), static_cast<double>(all), 24),
                    with_commas(done), with_commas(all));
    if (made > 0 && seconds > 0)
      text += fmt::format("  {:.3g} a second  left {}", made / seconds,
                          human_seconds(static_cast<double>(all - done) * seconds / made));
    line.show(text);
  };
}

std::string reader(const fs::path& folder) { return Spec("hdf5", {{"path", folder.string()}, {"log", true}}).str(); }

void make_universe(const UniverseRequest& request) {
  catch_signals();
  const double begin = now_seconds();
  data::UniverseWritten done;
  {
    report::StatusLine line(report::Screen::of(stdout));
    done = data::write_universe(request.out, request.what, shown_on(line), &stop_requested());
  }
  const std::int64_t all = request.what.train + request.what.test;
  if (!done.complete)
    fail("stopped: {} of {} samples are in {}; the same command makes the rest", done.written + done.kept, all,
         request.out);
  fmt::print("{}: {} training and {} test samples of {}^3 x {}", request.out, with_commas(request.what.train),
             with_commas(request.what.test), request.what.size, request.what.family.redshifts.size());
  fmt::print(" ({} made in {}", with_commas(done.written), human_seconds(now_seconds() - begin));
  if (done.kept > 0) fmt::print(", {} were there", with_commas(done.kept));
  fmt::print(")\nIn a recipe:\n\n[data]\n");
  if (request.what.train > 0) fmt::print("train = \"{}\"\n", reader(fs::path(request.out) / "train"));
  if (request.what.test > 0) fmt::print("test = \"{}\"\n", reader(fs::path(request.out) / "test"));
}

void declare_universe(CLI::App& make) {
  CLI::App& command = *make.add_subcommand("universe", "dark-matter volumes with the parameters that shaped them");
  command.footer(
      "Writes HDF5 files in the layout of MLPerf CosmoFlow, one sample each, into DIR/train and DIR/test: x holds\n"
      "particle counts at several redshifts, y the targets Omega_m, sigma_8, n_s and H_0, scaled to [-1, 1].\n"
      "Files that are there already are kept, so that a stopped command goes on and a set can grow.");
  const auto request = std::make_shared<UniverseRequest>();
  data::UniverseFiles& what = request->what;
  const auto option = [&](const char* name, auto& value, const char* type, const char* meaning) {
    return command.add_option(name, value, meaning)->type_name(type)->capture_default_str();
  };
  const auto whole = [](std::int64_t least, std::int64_t most) { return CLI::Range(least, most).description(""); };
  command.add_option("--out", request->out, "the folder to write into")->required()->type_name("DIR");
  option("--train", what.train, "N", "training samples")->check(whole(0, 1'000'000'000));
  option("--test", what.test, "N", "test samples, of other universes")->check(whole(0, 1'000'000'000));
  option("--size", what.size, "N", "edge of a sample in cells");
  option("--mesh", what.family.mesh, "N", "edge of a universe in mesh cells, one particle each: a power of two");
  option("--merge", what.merge, "N", "mesh cells along an edge counted as one cell; size x merge divides the mesh");
  option("--cell", what.family.cell, "LENGTH", "edge of a cell in Mpc/h");
  command.add_flag_callback(
      "--fixed-box", [&what] { what.family.scale_with_h0 = false; },
      "the same box in Mpc/h for all universes, instead of one that grows with H_0 as CosmoFlow's did");
  option("--redshifts", what.family.redshifts, "Z", "one channel each");
  option("--spread", what.family.spread, "PART", "parameters lie within nominal * (1 +- PART)");
  option("--seed", what.family.seed, "N", "names the family of universes");
  option("--threads", what.threads, "N", "0: one per processor")->check(whole(0, 4096));
  command.callback([request] { make_universe(*request); });
}

struct Spread {
  double low = std::numeric_limits<double>::infinity(), mean = 0, high = -low;
};

Spread spread_of(std::span<const float> values) {
  Spread spread;
  for (const double v : values) {
    spread.low = std::min(spread.low, v);
    spread.high = std::max(spread.high, v);
    spread.mean += v / static_cast<double>(values.size());
  }
  return spread;
}

void inspect(const std::string& spec, std::int64_t wanted) {
  const auto dataset = data::make_dataset(spec);
  const std::vector<data::Field> fields = dataset->fields();
  fmt::print("{} samples\n", with_commas(dataset->size()));
  for (const data::Field& field : fields)
    fmt::print("  {:<4} {}, {} a sample\n", field.name, field.shape.str(),
               human_bytes(static_cast<double>(field.shape.count()) * sizeof(float)));
  std::vector<std::vector<float>> memory;
  for (const data::Field& field : fields) memory.emplace_back(static_cast<std::size_t>(field.shape.count()));
  const std::vector<std::span<float>> out(memory.begin(), memory.end());
  for (std::int64_t i = 0; i < std::min(wanted, dataset->size()); ++i) {
    dataset->read(i, out);
    fmt::print("\n{}\n", dataset->where(i));
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const Spread spread = spread_of(out[f]);
      fmt::print("  {:<4} min {:<10.4g} mean {:<10.4g} max {:<10.4g}", fields[f].name, spread.low, spread.mean,
                 spread.high);
      if (out[f].size() <= 8) fmt::print(" [{:.4g}]", fmt::join(out[f], ", "));
      fmt::print("\n");
    }
  }
}

void declare_inspect(CLI::App& data) {
  CLI::App& command = *data.add_subcommand("inspect", "show the size, fields and first samples of a data set");
  const auto spec = std::make_shared<std::string>();
  const auto samples = std::make_shared<std::int64_t>(3);
  command.add_option("SPEC", *spec, "a data set, as 'hdf5(path=universe/train)'; see 'isobar list datasets'")
      ->required();
  command.add_option("--samples", *samples, "how many to look into")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(0, 1000).description(""));
  command.callback([spec, samples] { inspect(*spec, *samples); });
}

// Answers a missing or unknown subcommand with those there are.
void require_known(CLI::App& command) {
  command.require_subcommand(0, 1);
  command.allow_extras();
  command.final_callback([&command] {
    if (!command.get_subcommands().empty()) return;
    std::vector<std::string> known;
    for (const CLI::App* sub : command.get_subcommands({})) known.push_back(sub->get_name());
    const std::vector<std::string> words = command.remaining();
    const bool nested = command.get_parent() && command.get_parent()->get_parent();
    const std::string name = (nested ? command.get_parent()->get_name() + " " : "") + command.get_name();
    if (words.empty()) fail_usage("{}: what? One of: {}", name, join(known, ", "));
    fail_usage("{}: unknown '{}'{}", name, words[0], suggestion(words[0], known));
  });
}

void declare(CLI::App& command) {
  CLI::App& make = *command.add_subcommand("make", "make a data set from physics");
  declare_universe(make);
  require_known(make);
  declare_inspect(command);
  declare_tokenize(command);
  require_known(command);
}

}  // namespace

extern const Verb data_verb;
const Verb data_verb{"data", "make data sets and look into them", declare};

}  // namespace isobar::cli
