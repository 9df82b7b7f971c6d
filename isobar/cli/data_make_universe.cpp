// isobar data make universe: dark-matter volumes with the parameters that shaped them, as HDF5 files.
#include <filesystem>

#include <fmt/format.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/spec.hpp"
#include "isobar/base/text.hpp"
#include "isobar/cli/data.hpp"
#include "isobar/verbs/verb.hpp"
#include "isobar/writing/make_universe.hpp"

namespace isobar::cli {
namespace {

namespace fs = std::filesystem;

struct UniverseRequest {
  std::string out;
  writing::UniverseFiles what{};
};

std::string reader(const fs::path& folder) { return Spec("hdf5", {{"path", folder.string()}, {"log", true}}).str(); }

void make_universe(const UniverseRequest& request) {
  catch_signals();
  const double begin = now_seconds();
  writing::FilesMade done;
  {
    record::StatusLine line(record::Screen::of(stdout));
    done = writing::write_universe(request.out, request.what, shown_on(line), &stop_requested());
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

}  // namespace

void declare_universe(CLI::App& make) {
  CLI::App& command = *make.add_subcommand("universe", "dark-matter volumes with the parameters that shaped them");
  command.footer(
      "Writes HDF5 files in the layout of MLPerf CosmoFlow, one sample each, into DIR/train and DIR/test: x holds\n"
      "particle counts at several redshifts, y the targets Omega_m, sigma_8, n_s and H_0, scaled to [-1, 1].\n"
      "Existing files are kept, so that a stopped command can continue and a set can grow.");
  const auto request = std::make_shared<UniverseRequest>();
  writing::UniverseFiles& what = request->what;
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

}  // namespace isobar::cli
