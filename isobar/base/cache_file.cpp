#include "isobar/base/cache_file.hpp"

#include <cstdlib>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>

namespace isobar {

std::filesystem::path cache_file(const std::string& name) {
  const auto variable = [](const char* of) {
    const char* value = std::getenv(of);
    return std::filesystem::path(value ? value : "");
  };
  std::filesystem::path folder = variable("XDG_CACHE_HOME");
  if (!folder.is_absolute()) {  // the XDG base directory specification says to ignore relative paths
    folder = variable("HOME");
    if (!folder.is_absolute()) return {};
    folder /= ".cache";
  }
  return folder / "isobar" / name;
}

std::string read_cache(const std::filesystem::path& file, std::size_t longest) {
  std::ifstream in(file, std::ios::binary);
  std::string text(longest + 1, '\0');
  in.read(text.data(), text.size());
  text.resize(in.gcount());
  return text.size() > longest ? std::string() : text;
}

void write_cache(const std::filesystem::path& file, const std::string& text) noexcept {
  if (file.empty()) return;
  try {
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::path fresh = file;
    fresh += fmt::format(".{}", getpid());
    bool whole = false;
    {
      std::ofstream out(fresh, std::ios::binary);
      out << text;
      out.close();
      whole = !out.fail();
    }
    if (whole) std::filesystem::rename(fresh, file);
    else std::filesystem::remove(fresh);
  } catch (const std::exception&) {  // then it is measured again next time
  }
}

}  // namespace isobar
