// DiskError: a file cannot be written. A separate type, so that a run can continue without the file.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "isobar/base/error.hpp"

namespace isobar::disk {

/// "No space left on device".
inline std::string disk_cause(int error_number) { return std::generic_category().message(error_number); }

class DiskError : public Error {
 public:
  DiskError(std::filesystem::path file, std::string cause)
      : Error(fmt::format("{}: cannot be written: {}", file.string(), cause)),
        file_(std::move(file)),
        cause_(std::move(cause)) {}

  const std::filesystem::path& file() const { return file_; }
  const std::string& cause() const { return cause_; }

 private:
  std::filesystem::path file_;
  std::string cause_;
};

}  // namespace isobar::disk
