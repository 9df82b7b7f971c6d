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

/// The range "a:b" of samples; either side may be left out, and "7" means the first seven. -1: to the end.
std::pair<std::int64_t, std::int64_t> sample_range_of(const std::string& text);

/// Opens network and data on all ranks a launcher started, and gives them to `work`; rank 0 does `before` first. What
/// stops or fails one of them ends all.
void infer(const InferenceRequest& request, const std::function<void()>& before,
           const std::function<void(run::Inference& inference, comm::Comm& comm)>& work);

/// "runs/demo: checkpoint after step 12, epoch 3 of 3" and "universe(...): 64 samples", for people.
std::string described(const run::Inference& inference);

}  // namespace isobar::cli
