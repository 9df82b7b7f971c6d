#include "isobar/disk/text_file.hpp"

#include <cerrno>
#include <cstdio>

#include "isobar/disk/disk_error.hpp"

namespace isobar::disk {

void write_text(const std::filesystem::path& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  const bool whole = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  int problem = errno;
  if (file && std::fclose(file) != 0 && whole) problem = errno;
  else if (whole) return;
  throw disk::DiskError(path, disk::disk_cause(problem));
}

}  // namespace isobar::disk
