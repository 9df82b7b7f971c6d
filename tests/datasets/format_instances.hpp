// Small instances of the data sets whose formats can also be written, for the conformance test: written, then read.
#pragma once

#include "tests/datasets/written.hpp"

namespace isobar::datasets {

/// Data sets of the kind `name`, with their files in `folder`; empty for an unknown kind.
inline std::vector<Spec> written_instances(const std::string& name, const tests::TemporaryFolder& folder) {
  const auto at = [&](const std::string& path, std::vector<std::pair<std::string, Value>> more = {}) {
    more.emplace_back("path", (folder / path).string());
    return Spec(name, std::move(more));
  };
  const Held samples = numbered_samples(Shape{3, 4, 2}, 11);
  if (name == "auto") {
    write_set("tfrecord", folder / "some", samples);
    return {at("some")};
  }
  if (name == "join")
    return {
        "join(x='noise(shape=[3], count=5)', y='noise(shape=[2], classes=3, count=5, seed=2)')",
        "join(x=join(x=noise(shape=[3], count=5), y=noise(shape=[90], count=5)), y=noise(shape=[2], count=5, seed=2))"};
  if (name == "lmdb") {
    write_set("lmdb", folder / "base", samples);
    return {at("base"), at("base/data.mdb", {{"samples", 5}})};
  }
  if (name == "netcdf") {
    write_set("netcdf", folder / "new.nc", samples);
    std::filesystem::create_directory(folder / "several");
    write_set("netcdf(kind=classic)", folder / "several/a.nc", samples);
    write_set("netcdf(deflate=1, start=2001-01-01)", folder / "several/b.nc", samples);
    return {at("new.nc", {{"y", "labels"}}), at("several", {{"y", "labels"}, {"every", 2}})};
  }
  if (name == "npy") {
    write_set("npy(type=uint8)", folder / "both.npz", samples);
    write_set("npy(type=int16)", folder / "x.npy", samples);
    return {at("both.npz"), at("x.npy", {{"labels", (folder / "x_y.npy").string()}, {"log", true}})};
  }
  if (name == "tfrecord") {
    write_set("tfrecord(type=int16)", folder / "plain.tfrecord", samples);
    write_set("tfrecord(gzip=true)", folder / "packed.tfrecord.gz", samples);
    write_set("tfrecord(gzip=true, per_file=3)", folder / "several", samples);
    write_set("tfrecord(per_file=1, type=uint8)", folder / "single", samples);
    return {at("plain.tfrecord", {{"log", true}}), at("packed.tfrecord.gz"), at("several"),
            at("several", {{"per_file", 3}, {"max_gigabytes", 1e-6}}), at("single", {{"per_file", 1}})};
  }
  if (name == "tokens") {
    write_set("tokens", folder / "stream.bin", numbered_samples(Shape{8}, 9));
    return {at("stream.bin", {{"context", 5}}), at("stream.bin", {{"context", 5}, {"stride", 2}})};
  }
  return {};
}

}  // namespace isobar::datasets
