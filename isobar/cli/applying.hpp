// What `eval` and `predict` share: the network and the data they name, opened on all ranks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "isobar/run/inference.hpp"

namespace isobar::cli {

struct InferenceRequest {
  std::string what, data, loss, samples;
  std::string checkpoint = "newest";
  std::vector<std::string> metrics{};
  std::int64_t batch = 0;
  int threads = 0;
  bool quiet = false;
  bool evaluates = false, shows = false;  ///< as in run::InferenceOptions
};

/// --checkpoint newest or best.
void add_checkpoint_option(CLI::App& command, std::string& checkpoint);

void add_inference_options(CLI::App& command, InferenceRequest& request);

/// Parses the range "a:b" of samples; either side may be omitted, and "7" means the first seven. -1: to the end.
std::pair<std::int64_t, std::int64_t> sample_range_of(const std::string& text);

/// Opens network and data on all ranks that a launcher started, and passes them to `work`; rank 0 first calls `before`.
/// If one rank stops or fails, all end.
void infer(const InferenceRequest& request, const std::function<void()>& before,
           const std::function<void(run::Inference& inference, comm::Comm& comm)>& work);

/// "runs/demo: checkpoint after step 12, epoch 3 of 3" and "universe(...): 64 samples", for the terminal.
std::string described(const run::Inference& inference);

}  // namespace isobar::cli
