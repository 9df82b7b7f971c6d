#include "isobar/files/archive_writer.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <new>
#include <utility>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/disk/output_file.hpp"

namespace isobar::files {

void ArchiveWriter::Close::operator()(archive* open) const { archive_write_free(open); }

void ArchiveWriter::check(int result) const {
  if (result == ARCHIVE_OK || result == ARCHIVE_WARN) return;
  const char* reason = archive_error_string(archive_.get());
  fail("{}: cannot be written: {}", path_.string(), one_line(reason ? reason : "unknown reason"));
}

ArchiveWriter::ArchiveWriter(std::filesystem::path path, Kind kind)
    : path_(std::move(path)), temporary_(disk::temporary_beside(path_)), archive_(archive_write_new()) {
  if (!archive_) throw std::bad_alloc();
  archive* a = archive_.get();
  if (kind == Kind::tar_gzip || kind == Kind::gzip) check(archive_write_add_filter_gzip(a));
  switch (kind) {
    case Kind::tar:
    case Kind::tar_gzip: check(archive_write_set_format_pax_restricted(a)); break;
    case Kind::zip:
      check(archive_write_set_format_zip(a));
      check(archive_write_zip_set_compression_store(a));
      break;
    case Kind::plain:
    case Kind::gzip: check(archive_write_set_format_raw(a)); break;
  }
  check(archive_write_open_filename(a, temporary_.c_str()));
  if (kind == Kind::plain || kind == Kind::gzip) begin("stream", -1);
}

ArchiveWriter::~ArchiveWriter() {
  archive_.reset();
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove(temporary_, ignored);
}

void ArchiveWriter::begin(const std::string& name, std::int64_t bytes) {
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(), archive_entry_free);
  if (!entry) throw std::bad_alloc();
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), 0, 0);  // the same samples give the same file
  if (bytes >= 0) archive_entry_set_size(entry.get(), bytes);
  check(archive_write_header(archive_.get(), entry.get()));
}

void ArchiveWriter::write(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const auto done = archive_write_data(archive_.get(), bytes.data(), bytes.size());
    if (done <= 0) check(ARCHIVE_FATAL);
    bytes = bytes.subspan(done);
  }
}

void ArchiveWriter::commit() {
  check(archive_write_close(archive_.get()));
  std::error_code code;
  std::filesystem::rename(temporary_, path_, code);
  if (code) fail("{}: cannot be renamed: {}", path_.string(), code.message());
  temporary_.clear();
}

}  // namespace isobar::files
