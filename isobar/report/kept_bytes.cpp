#include "isobar/report/kept_bytes.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

namespace isobar::report {

namespace fs = std::filesystem;
using Json = nlohmann::json;

static bool is_end(const Json& object) {
  const auto kind = object.find("kind");
  return kind != object.end() && *kind == "end";
}

static std::int64_t step_of(const Json& object) {
  const Json* where = &object;
  if (const auto args = object.find("args"); args != object.end() && args->is_object()) where = &*args;
  const auto step = where->find("step");
  return step != where->end() && step->is_number_integer() ? step->get<std::int64_t>() : 0;
}

std::uintmax_t kept_bytes(const fs::path& file, std::int64_t first_step, const std::function<void(const Json&)>& kept) {
  std::ifstream in(file);
  std::uintmax_t bytes = 0;
  for (std::string line; std::getline(in, line) && !in.eof();) {
    const std::uintmax_t length = line.size() + 1;
    if (line.starts_with('[')) line.erase(0, 1);
    if (line.ends_with(',')) line.pop_back();
    if (!line.empty()) {
      const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!object.is_object() || is_end(object) || step_of(object) > first_step) break;
      if (kept) kept(object);
    }
    bytes += length;
  }
  return bytes;
}

files::LateFile open_lines(const fs::path& file, std::int64_t first_step, files::LateOptions options) {
  const std::uintmax_t kept = first_step == 0 ? 0 : kept_bytes(file, first_step);
  return files::LateFile(file, static_cast<std::int64_t>(kept), std::move(options));
}

}  // namespace isobar::report
