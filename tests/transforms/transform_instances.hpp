// A small instance of every transform of the catalogue, for tests that walk it.
#pragma once

#include "isobar/datasets/statistics.hpp"

#include "tests/transforms/applied.hpp"

namespace isobar::transforms {

/// A small instance of a member, for pictures of three channels; the files that it reads are made in `folder`.
inline Spec transform_instance(std::string_view name, const TemporaryFolder& folder) {
  if (name == "class_map") return "class_map(map=[1, 0], otherwise=2)";
  if (name == "crop") return "crop(size=[2, 3])";
  if (name == "normalize") {
    datasets::write_statistics(folder / "stats.h5",
                               std::vector<datasets::ChannelStatistics>(3, {2, 0, 1.0, 2.0, 0.0, 9.0}));
    return Spec("normalize", {{"stats", (folder / "stats.h5").string()}});
  }
  if (name == "one_hot") return "one_hot(classes=60)";
  if (name == "resize") return "resize(size=[2, 7])";
  if (name == "rotate") return "rotate(by=180)";
  if (name == "scale") return "scale(by=0.5)";
  if (name == "select_channels") return "select_channels(channels=[2, 0])";
  if (name == "standardize") return "standardize(mean=[1, 2, 3], std=[1, 2, 4])";
  if (name == "subtract_mean") return "subtract_mean(values=[1, 10, 100])";
  return Spec(std::string(name), {});
}

}  // namespace isobar::transforms
