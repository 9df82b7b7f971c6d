// Small instances of every data set of the catalogue, for tests that walk it.
#pragma once

#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/datasets/format_instances.hpp"
#include "tests/files/made_files.hpp"

namespace isobar::datasets {

/// Small instances of a member; the files that it reads are made in `folder`.
inline std::vector<Spec> dataset_instances(const std::string& name, const tests::TemporaryFolder& folder) {
  using namespace tests;
  if (name == "noise") return {"noise(shape=[3, 5], targets=2, count=13)"};
  if (name == "atmosphere")
    return {"atmosphere(height=16, width=24, count=5, hours=6, start='2001-08-01')",
            "atmosphere(height=17, width=24, count=4, channels=[PSL, TMQ], labels=1, run=2, max_gigabytes=0)"};
  if (name == "universe") return {"universe(size=8, mesh=16, count=20, first=3)"};
  const auto at = [&](const std::string& path, std::vector<std::pair<std::string, Value>> more = {}) {
    more.emplace_back("path", (folder / path).string());
    return Spec(name, std::move(more));
  };
  if (name == "cifar10" || name == "cifar100") {
    write_bytes(folder / "some.bin", cifar_bytes(7, name == "cifar10" ? 1 : 2, 10, 3));
    return {at("some.bin")};
  }
  if (name == "idx" || name == "mnist") {
    write_bytes(folder / "train-images-idx3-ubyte", idx_bytes({9, 3, 4}, [](std::size_t i) { return 7 * i; }));
    write_bytes(folder / "train-labels-idx1-ubyte", idx_bytes({9}, [](std::size_t i) { return i; }));
    if (name == "mnist") return {at("")};
    return {Spec(name, {{"images", (folder / "train-images-idx3-ubyte").string()},
                        {"labels", (folder / "train-labels-idx1-ubyte").string()}})};
  }
  if (name == "images") {
    std::vector<std::pair<std::string, FileBytes>> members;
    for (int i = 0; i < 9; ++i)
      members.emplace_back(fmt::format("class{}/{}.jpg", i % 3, i),
                           jpeg_bytes(5, 4, 3, flat_pixels(5, 4, {20 * i, 90, 255 - 20 * i})));
    write_archive(folder / "set.tar", members, false);
    for (const auto& [file, content] : members) write_bytes(folder / ("set/" + file), content);
    return {at("set"), at("set.tar"), at("set.tar", {{"size", std::vector<Value>{3, 7}}})};
  }
  if (name != "hdf5" && name != "auto") return written_instances(name, folder);
  const Shape shape{3, 2};
  std::vector<std::int16_t> all;
  std::vector<float> targets;
  std::filesystem::create_directory(folder / "many");
  for (std::int16_t s = 0; s < 12; ++s) {
    std::vector<std::int16_t> x;
    for (std::int16_t i = 0; i < 6; ++i) x.push_back(static_cast<std::int16_t>(100 * s + i));
    const std::vector<float> y{static_cast<float>(s), -1.0f};
    hdf5::Hdf5File file = hdf5::Hdf5File::create(folder / fmt::format("many/{:02}.h5", s));
    file.write<std::int16_t>("x", shape, x);
    file.write<float>("y", Shape{2}, y);
    file.commit(false);
    all.insert(all.end(), x.begin(), x.end());
    targets.insert(targets.end(), y.begin(), y.end());
  }
  hdf5::Hdf5File file = hdf5::Hdf5File::create(folder / "one.h5");
  file.write<std::int16_t>("x", Shape{12, 3, 2}, all);
  file.write<float>("y", Shape{12, 2}, targets);
  file.commit(false);
  const auto spec = [&](const std::string& path) {
    return Spec(name, {{"path", (folder / path).string()}, {"log", true}});
  };
  return {spec("many"), spec("one.h5")};
}

}  // namespace isobar::datasets
