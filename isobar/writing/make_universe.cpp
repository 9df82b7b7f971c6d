#include "isobar/writing/make_universe.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/datasets/universe_cubes.hpp"
#include "isobar/hdf5/hdf5_file.hpp"

namespace isobar::writing {
namespace {

namespace fs = std::filesystem;
using Count = std::int16_t;

// One file to be written: a cube of a universe.
struct Target {
  fs::path path;
  std::int64_t part;
};
// The files of one universe that are still missing.
struct UniverseTask {
  std::int64_t universe;
  std::vector<Target> targets;
};

std::string differences(const Spec& found, const Spec& asked) {
  std::vector<std::string> list;
  for (const auto& [key, value] : asked.arguments()) {
    const Value* other = found.find(key);
    const std::string had = other ? other->str() : "not given";
    if (had != value.str()) list.push_back(fmt::format("{} is {} there, {} was requested", key, had, value.str()));
  }
  return list.empty() ? "it lists other settings" : join(list, "; ");
}

// True for a complete file with these settings; false for a damaged file, which is made again.
bool can_keep(const Target& target, std::int64_t universe, const datasets::UniverseCubes& cubes) {
  std::optional<hdf5::Hdf5File> file;
  try {
    file = hdf5::Hdf5File::open(target.path);
  } catch (const Error&) {
    return false;
  }
  if (!file->has_attribute("/", "settings"))
    fail("{}: is in the way: it is not a file of universes", target.path.string());
  const Spec asked = cubes.settings();
  if (const std::string settings = file->text("/", "settings"); settings != asked.str())
    fail("{}: was made with other settings: {}; choose another folder or remove this one", target.path.string(),
         differences(Spec(settings), asked));
  return file->integer("/", "universe") == universe && file->integer("/", "part") == target.part &&
         file->shape("x") == cubes.shape() && file->shape("y") == Shape{4};
}

// The files that a part of the set still needs; counts existing ones in `kept`.
std::vector<UniverseTask> missing_files(const fs::path& folder, std::int64_t first_universe, std::int64_t samples,
                                        const datasets::UniverseCubes& cubes, std::int64_t& kept) {
  std::vector<UniverseTask> tasks;
  std::set<std::string> expected;
  std::error_code code;
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    const std::int64_t universe = first_universe + sample / cubes.parts(), part = sample % cubes.parts();
    const std::string name = fmt::format("{:010}_{:06}.h5", universe, part);
    expected.insert(name);
    const Target target{folder / name, part};
    if (fs::exists(target.path, code) && can_keep(target, universe, cubes)) {
      ++kept;
      continue;
    }
    if (tasks.empty() || tasks.back().universe != universe) tasks.push_back({universe, {}});
    tasks.back().targets.push_back(target);
  }
  if (!fs::exists(folder, code)) return tasks;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code))
    if (entry.path().extension() == ".h5" && !expected.contains(entry.path().filename().string()))
      fail("{}: the folder already holds '{}', which is not among the {} samples requested; remove it or ask for more",
           folder.string(), entry.path().filename().string(), samples);
  if (code) fail("{}: cannot be listed: {}", folder.string(), code.message());
  return tasks;
}

void write_cube(const Target& target, std::int64_t universe, const datasets::UniverseCubes& cubes,
                std::span<const Count> all) {
  const std::size_t length = cubes.shape().count();
  const auto targets = cubes.family().targets(universe);
  const worlds::Cosmology physics = cubes.family().cosmology(universe);
  hdf5::Hdf5File file = hdf5::Hdf5File::create(target.path);
  file.write<Count>("x", cubes.shape(), all.subspan(target.part * length, length));
  file.write<float>("y", Shape{4}, targets);
  file.set_text("/", "settings", cubes.settings().str());
  file.set_integer("/", "universe", universe);
  file.set_integer("/", "part", target.part);
  file.set_real("/", "omega_m", physics.omega_m);
  file.set_real("/", "sigma_8", physics.sigma_8);
  file.set_real("/", "n_s", physics.n_s);
  file.set_real("/", "h0", physics.h0);
  file.commit(/*durable=*/false);  // if a power failure damages the file, the next call finds it and makes it again
}

}  // namespace

FilesMade write_universe(const fs::path& directory, const UniverseFiles& what, const FileProgress& progress,
                         const std::atomic<bool>* stop) {
  if (what.train < 0 || what.test < 0 || what.train + what.test == 0)
    fail_usage("universe: {} training and {} test samples; at least one sample is needed", what.train, what.test);
  const int threads = threads_for_files(what.threads);
  // Small universes are made side by side; large ones, of gigabytes each, one after the other with all threads.
  const bool side_by_side = what.family.mesh <= 128;
  worlds::UniverseOptions family = what.family;
  family.threads = side_by_side ? 1 : threads;
  const datasets::UniverseCubes cubes(family, what.size, what.merge);
  if (what.train > first_test_universe * cubes.parts())
    fail_usage("universe: {} training samples would reach into the test universes", what.train);

  std::int64_t kept = 0;
  std::vector<UniverseTask> tasks = missing_files(directory / "train", 0, what.train, cubes, kept);
  std::ranges::move(missing_files(directory / "test", first_test_universe, what.test, cubes, kept),
                    std::back_inserter(tasks));
  if (what.train > 0) make_folder(directory / "train");
  if (what.test > 0) make_folder(directory / "test");

  const FilesToMake files{tasks.size(), side_by_side ? threads : 1, kept, what.train + what.test, progress, stop};
  return make_files(files, [&](std::size_t task, const std::function<bool()>& made) {
    std::vector<Count> all(cubes.count());
    cubes.make(tasks[task].universe, all);
    for (const Target& target : tasks[task].targets) {
      write_cube(target, tasks[task].universe, cubes, all);
      if (!made()) return;
    }
  });
}

}  // namespace isobar::writing
