#include "isobar/cli/data_source.hpp"

#include <algorithm>
#include <filesystem>

#include "isobar/transforms/pipeline.hpp"

namespace isobar::cli {

DataSource find_source(const std::string& text) {
  DataSource source;
  std::error_code code;
  if (std::filesystem::exists(text, code)) {
    const datasets::Glance glance = datasets::glance_at(text);
    source.contents = datasets::look_into(glance);
    if (!source.contents->readers.empty()) source.spec = source.contents->readers.front();
    source.obstacle = source.contents->obstacle;
    return source;
  }
  // A mistyped path should not be reported as an invalid Spec.
  const bool named = text.find('(') != std::string::npos || std::ranges::count(names(datasets::datasets()), text) > 0;
  if (!named && text.find_first_of("/.") != std::string::npos) fail("{}: there is no such file or folder", text);
  source.spec = Spec(text);
  return source;
}

std::shared_ptr<const datasets::Dataset> open_data(const Spec& spec, const std::vector<std::string>& transforms) {
  std::shared_ptr<const datasets::Dataset> dataset = datasets::make_dataset(spec);
  if (dataset->size() < 1) fail("{}: contains no samples", spec.str());
  if (transforms.empty()) return dataset;
  auto pipeline = std::make_shared<transforms::Pipeline>(transforms);
  if (pipeline->learns())
    fail_usage(
        "--transform: one that learns from the training set needs a run; give it its numbers, as in "
        "'subtract_mean(values=[...])'");
  return std::make_shared<transforms::Transformed>(std::move(dataset), std::move(pipeline));
}

std::shared_ptr<const datasets::Dataset> open_source(const std::string& text,
                                                     const std::vector<std::string>& transforms) {
  const DataSource source = find_source(text);
  if (!source.spec) fail("{}: no data set reads it{}{}", text, source.obstacle.empty() ? "" : ": ", source.obstacle);
  return open_data(*source.spec, transforms);
}

}  // namespace isobar::cli
