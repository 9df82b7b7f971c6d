#include "isobar/cli/applying.hpp"

#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/cli/data_source.hpp"
#include "isobar/cli/ranks.hpp"
#include "isobar/run/core_share.hpp"
#include "isobar/run/models.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

namespace fs = std::filesystem;

enum class InferenceKind { run, file, spec };

// A checkpoint is an HDF5 file, any other file an ONNX model.
InferenceKind kind_of(const std::string& what) {
  std::error_code code;
  if (fs::is_directory(what, code)) return InferenceKind::run;
  if (fs::is_regular_file(what, code))
    return fs::path(what).extension() == ".h5" ? InferenceKind::run : InferenceKind::file;
  if (what.starts_with("onnx(")) return InferenceKind::spec;
  fail("{}: there is no such run folder, checkpoint or ONNX file", what);
}

run::Trained find_trained(const InferenceRequest& request, comm::Comm& comm) {
  InferenceKind kind = InferenceKind::run;
  if (comm.rank() == 0) kind = kind_of(request.what);  // other nodes may not see the folder
  broadcast_object(comm, kind);
  if (kind == InferenceKind::run) {
    if (!request.loss.empty()) fail_usage("--loss is for ONNX files; a run has its own");
    return run::find_run(request.what, comm, request.checkpoint == "best");
  }
  if (request.checkpoint == "best") fail_usage("--checkpoint best is for runs; an ONNX file has its own weights");
  const Spec spec = kind == InferenceKind::spec ? Spec(request.what) : Spec("onnx", {{"file", Value(request.what)}});
  run::Trained found;
  found.model = run::make_bare_model(spec, request.loss.empty() ? Spec() : Spec(request.loss));
  found.name = request.what;
  return found;
}

}  // namespace

void add_checkpoint_option(CLI::App& command, std::string& checkpoint) {
  command.add_option("--checkpoint", checkpoint, "which of a run folder: the newest intact one, or best.h5")
      ->check(CLI::IsMember({"newest", "best"}))
      ->capture_default_str();
}

void add_inference_options(CLI::App& command, InferenceRequest& request) {
  command.add_option("WHAT", request.what, "a run folder, a checkpoint, or an ONNX file")->required();
  command
      .add_option("--data", request.data,
                  "a file, a folder or a data set such as 'hdf5(path=test)'; default: data.test of the run")
      ->type_name("DATA");
  command.add_option("--samples", request.samples, "which of them: 10:20, :100, 50:; default: all")->type_name("A:B");
  command.add_option("--batch", request.batch, "samples computed at a time on a rank; default: as in the run")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20).description(""));
  command.add_option("--loss", request.loss, "the loss an ONNX file was trained with, such as 'softmax_cross_entropy'")
      ->type_name("SPEC");
  add_checkpoint_option(command, request.checkpoint);
  command.add_flag("--quiet", request.quiet, "show nothing but errors");
  command.add_option("--threads", request.threads, "threads to compute with (default: all cores)")
      ->check(CLI::Range(1, 4096));
}

std::pair<std::int64_t, std::int64_t> sample_range_of(const std::string& text) {
  if (text.empty()) return {0, -1};
  const std::size_t colon = text.find(':');
  const auto number = [&](std::string_view part, std::int64_t otherwise) {
    if (part.empty()) return otherwise;
    std::int64_t value = 0;
    const char* const end = part.data() + part.size();
    const auto [stop, problem] = std::from_chars(part.data(), end, value);
    if (problem != std::errc() || stop != end || value < 0)
      fail_usage("--samples {}: '{}' is not a sample number; valid: 10:20, :100, 50:", text, part);
    return value;
  };
  const std::string_view all = text;
  if (colon == std::string::npos) return {0, number(all, 0)};
  return {number(all.substr(0, colon), 0), number(all.substr(colon + 1), -1)};
}

void infer(const InferenceRequest& request, const std::function<void()>& before,
           const std::function<void(run::Inference& inference, comm::Comm& comm)>& work) {
  on_all_ranks([&](comm_mpi::World& world) {
    comm::Comm& comm = world.comm();
    comm::guarded(comm, [&] {
      if (comm.rank() == 0) before();
      const run::CoreShare cores(comm, request.threads);
      cores.bind_compute();
      run::InferenceOptions options;
      std::tie(options.first, options.last) = sample_range_of(request.samples);
      options.rows = request.batch;
      if (!request.metrics.empty()) options.metrics = request.metrics;
      options.evaluates = request.evaluates;
      options.shows = request.shows;
      run::Trained trained = find_trained(request, comm);
      if (!request.data.empty()) {
        options.data = open_source(request.data, {});
        options.data_name = request.data;
      }
      run::Inference inference(std::move(trained), options, comm);
      const train::Vigil vigil(comm, inference.limits());
      catch_signals();
      work(inference, comm);
      // No rank leaves before the last file is written: if that fails on one rank, all end.
      train::meet(comm, inference.limits(), "the end");
    });
  });
}

std::string described(const run::Inference& inference) {
  const run::Trained& trained = inference.trained();
  const std::int64_t samples = inference.data()->size();
  const int networks = inference.networks();
  return fmt::format("{}{}{}\n{}: {} sample{}\n", trained.name,
                     trained.is_run() ? ": " + trained.standing() : ": weights as in the file",
                     networks > 1 ? fmt::format("; the mean of {} networks", networks) : "", inference.data_name(),
                     with_commas(samples), samples == 1 ? "" : "s");
}

}  // namespace isobar::cli
