// What the tests of sinks share: a file that keeps what is printed, a temporary folder, a file's text.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "isobar/disk/late_file.hpp"

#include "tests/temporary_folder.hpp"

namespace isobar::tests {

/// An open file and what was written to it.
class Capture {
 public:
  Capture() : file_(std::tmpfile()) {
    if (!file_) throw std::runtime_error("no temporary file");
  }
  ~Capture() { std::fclose(file_); }
  Capture(const Capture&) = delete;

  std::FILE* file() const { return file_; }
  std::string text() const {
    std::fflush(file_);
    std::rewind(file_);
    std::string all;
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) all += static_cast<char>(c);
    return all;
  }

 private:
  std::FILE* file_;
};

/// With all that sinks have told so far.
inline std::string text_of(const std::filesystem::path& file) {
  disk::flush_late_files();
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace isobar::tests
