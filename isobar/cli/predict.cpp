// isobar predict WHAT [--data DATA] --out FILE: a trained network's prediction for every sample, as HDF5 or CF NetCDF.
#include <ctime>
#include <filesystem>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/text.hpp"
#include "isobar/cli/applying.hpp"
#include "isobar/cli/data.hpp"
#include "isobar/machine/versions.hpp"
#include "isobar/pictures/pictures.hpp"
#include "isobar/verbs/verb.hpp"
#include "isobar/writing/prediction_writer.hpp"

namespace isobar::cli {
namespace {

namespace fs = std::filesystem;

struct PredictOptions {
  InferenceRequest request;
  std::string out, pictures;
  bool overwrite = false, probabilities = false;
};

// Checked before anything is read or computed.
void check_target(const PredictOptions& options) {
  const fs::path out = options.out, folder = out.has_parent_path() ? out.parent_path() : fs::path(".");
  writing::expect_prediction_format(out);
  std::error_code code;
  if (!fs::is_directory(folder, code)) fail("{}: the folder {} does not exist", options.out, folder.string());
  if (fs::exists(out, code) && !options.overwrite) fail("{}: exists already; --overwrite replaces it", options.out);
}

writing::PredictionOutline outline_of(const PredictOptions& options, const run::Inference& inference) {
  const run::Trained& trained = inference.trained();
  writing::PredictionOutline outline;
  outline.samples = inference.data();
  outline.first = sample_range_of(options.request.samples).first;
  outline.prediction = inference.prediction_shape();
  outline.target = inference.target_shape();
  outline.meaning = inference.meaning();
  outline.names = inference.names();
  outline.squash = squash_of(trained.model.loss.name());
  outline.probabilities = options.probabilities;
  if (options.probabilities && outline.squash == Squash::none) {
    if (trained.model.loss.name().empty())
      fail_usage("--probabilities: name the loss the file was trained with, such as --loss softmax_cross_entropy");
    fail_usage("--probabilities: what is trained with the loss '{}' has none", trained.model.loss.name());
  }
  outline.notes = {{"title", "predictions of " + trained.name},
                   {"source", fmt::format("isobar {}: {}", machine::program_version(), trained.model.resolved.str())},
                   {"history", fmt::format("{:%Y-%m-%dT%H:%M:%SZ} isobar predict {}", fmt::gmtime(std::time(nullptr)),
                                           trained.name)},
                   {"data", inference.data_name()}};
  if (trained.is_run()) outline.notes.emplace_back("checkpoint", trained.standing());
  if (!trained.model.loss.name().empty()) outline.notes.emplace_back("loss", trained.model.loss.str());
  return outline;
}

// The predictions, if they are few enough to keep.
struct KeptRows {
  std::vector<float> predictions{}, targets{};
};

void draw(const PredictOptions& options, run::Inference& inference, const KeptRows& kept) {
  train::Viewer viewer(inference.predictor(), *inference.data());
  pictures::PictureRequest request;
  request.viewer = &viewer;
  request.loss = inference.trained().model.loss;
  request.target_names = inference.names();
  request.target_shape = inference.target_shape().value_or(Shape());
  request.predictions = kept.predictions;
  request.targets = kept.targets;
  const std::size_t drawn = pictures::draw_pictures(options.pictures, request).size();
  if (!options.request.quiet) fmt::print("{}: {} picture{}\n", options.pictures, drawn, drawn == 1 ? "" : "s");
}

void predict(const PredictOptions& options) {
  const auto work = [&](run::Inference& inference, comm::Comm& comm) {
    const bool first = comm.rank() == 0, shows = first && !options.request.quiet;
    if (shows) fmt::print("{}", described(inference));
    std::unique_ptr<writing::PredictionWriter> writer;
    if (first) writer = writing::make_prediction_writer(options.out, outline_of(options, inference));
    const std::int64_t all = inference.data()->size();
    std::int64_t done = 0;
    KeptRows kept;
    const bool keeps =
        !options.pictures.empty() && all * inference.prediction_shape().count() <= train::max_kept_predictions;
    const double begin = now_seconds();
    bool complete = false;
    {
      std::optional<record::StatusLine> line;
      std::function<void(std::int64_t, std::int64_t)> progress = [](std::int64_t, std::int64_t) {};
      if (shows) progress = shown_on(line.emplace(record::Screen::of(stdout)));
      progress(0, all);
      complete = inference.predict(
          [&](const run::PredictedRows& rows) {
            writer->write(rows.samples, rows.predictions, rows.targets);
            if (keeps) {
              kept.predictions.insert(kept.predictions.end(), rows.predictions.begin(), rows.predictions.end());
              kept.targets.insert(kept.targets.end(), rows.targets.begin(), rows.targets.end());
            }
            done += static_cast<std::int64_t>(rows.samples.size());
            progress(done, all);
          },
          &stop_requested());
    }
    if (!complete) {
      stop_requested() = true;  // another rank may have received the signal
      if (first) fmt::print(stderr, "isobar: stopped: nothing was written to {}\n", options.out);
      return;
    }
    if (!first) return;
    writer->finish();
    if (done < all)
      fmt::print(stderr, "isobar: {} of {} samples could not be read: their predictions are missing\n",
                 with_commas(all - done), with_commas(all));
    const double seconds = now_seconds() - begin;
    if (shows)
      fmt::print("{}: {} in {}, {:.3g} samples per second\n", options.out,
                 human_bytes(static_cast<double>(fs::file_size(options.out))), human_seconds(seconds),
                 static_cast<double>(done) / std::max(seconds, 1e-9));
    if (!options.pictures.empty()) draw(options, inference, kept);
  };
  infer(
      options.request, [&] { check_target(options); }, work);
}

void declare_predict(CLI::App& command) {
  auto options = std::make_shared<PredictOptions>();
  add_inference_options(command, options->request);
  command.add_option("--out", options->out, "the file to write: .h5, or .nc for maps")->required()->type_name("FILE");
  command.add_flag("--overwrite", options->overwrite, "replace a file that exists");
  command.add_option("--pictures", options->pictures, "draw what the network does into this folder")->type_name("DIR");
  command.add_flag("--probabilities", options->probabilities, "write the probability of every class as well");
  command.footer(
      "HDF5 holds prediction, class (for scores of classes), target (where the data has one), sample and where. "
      "NetCDF\n"
      "holds maps after the CF conventions, with the latitudes, longitudes and times of the data where they are "
      "known.\n"
      "The file appears when it is complete.");
  command.callback([options] {
    options->request.shows = !options->pictures.empty();
    predict(*options);
  });
}

}  // namespace

extern const Verb predict_verb{"predict", "write the predictions of a trained network", declare_predict};

}  // namespace isobar::cli
