#include "isobar/record/kept_bytes.hpp"

#include <charconv>
#include <fstream>

#include <nlohmann/json.hpp>

#include "isobar/base/error.hpp"

namespace isobar::record {

namespace fs = std::filesystem;
using Json = nlohmann::json;

static bool is_a(const char* wanted, const Json& object) {
  const auto kind = object.find("kind");
  return kind != object.end() && *kind == wanted;
}

static std::int64_t epoch_of(const Json& object) {
  const auto epoch = object.find("epoch");
  return epoch != object.end() && epoch->is_number_integer() ? epoch->get<std::int64_t>() : 0;
}

static std::int64_t step_of(const Json& object) {
  const Json* where = &object;
  if (const auto args = object.find("args"); args != object.end() && args->is_object()) where = &*args;
  const auto step = where->find("step");
  return step != where->end() && step->is_number_integer() ? step->get<std::int64_t>() : 0;
}

std::uintmax_t kept_bytes(const fs::path& file, const train::Start& start,
                          const std::function<void(const Json&)>& kept) {
  std::ifstream in(file);
  std::uintmax_t bytes = 0;
  for (std::string line; std::getline(in, line) && !in.eof();) {
    const std::uintmax_t length = line.size() + 1;
    if (line.starts_with('[')) line.erase(0, 1);
    if (line.ends_with(',')) line.pop_back();
    if (!line.empty()) {
      const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!object.is_object() || is_a("end", object) || step_of(object) > start.first_step) break;
      if (is_a("epoch", object) && epoch_of(object) > start.first_epoch) break;
      if (kept) kept(object);
    }
    bytes += length;
  }
  return bytes;
}

KeptLines open_lines(const fs::path& path, const train::Start& start, disk::LateOptions options) {
  KeptLines lines;
  std::uintmax_t bytes = 0;
  if (start.goes_on())
    bytes = kept_bytes(path, start, [&](const Json& object) {
      if (is_a("step", object)) lines.reached.step = step_of(object);
      if (is_a("epoch", object)) lines.reached.epoch = epoch_of(object);
    });
  lines.file = disk::LateFile(path, bytes, std::move(options));
  return lines;
}

static void remove_other_ranks(const fs::path& folder, int ranks) {
  std::error_code ignored;
  std::vector<fs::path> gone;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    int rank = -1;
    if (!name.starts_with("rank")) continue;
    const auto [end, problem] = std::from_chars(name.data() + 4, name.data() + name.size(), rank);
    if (problem == std::errc() && *end == '.' && rank >= ranks) gone.push_back(entry.path());
  }
  for (const fs::path& file : gone) fs::remove(file, ignored);
}

std::optional<fs::path> rank_file(const train::Start& start, const std::string& kind, const std::string& extension) {
  std::error_code ignored;
  if (start.rank > 0 && !fs::exists(start.folder, ignored)) return std::nullopt;
  const fs::path folder = start.folder / kind;
  if (start.rank == 0) remove_other_ranks(folder, start.ranks);
  return folder / fmt::format("rank{}{}", start.rank, extension);
}

}  // namespace isobar::record
