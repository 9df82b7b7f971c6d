#include "isobar/report/text_file.hpp"

#include <cerrno>
#include <system_error>

namespace isobar::report {

TextFile::TextFile(const std::filesystem::path& path, const char* mode)
    : path_(path), file_(std::fopen(path.c_str(), mode)) {
  if (!file_) fail_write();
}

void TextFile::fail_write() const {
  fail("{}: cannot be written: {}", path_.string(), std::generic_category().message(errno));
}

void TextFile::write(std::string_view text) {
  expects(file_ != nullptr, "an open file");
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fail_write();
}

void TextFile::flush() {
  expects(file_ != nullptr, "an open file");
  if (std::fflush(file_.get()) != 0) fail_write();
}

void TextFile::close() {
  flush();
  if (std::fclose(file_.release()) != 0) fail_write();
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  TextFile file = TextFile::create(path);
  file.write(text);
  file.close();
}

}  // namespace isobar::report
