#include "isobar/files/archive.hpp"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/files/input_file.hpp"

namespace isobar::files {

namespace {

void support_compression(archive* a) {
  archive_read_support_filter_bzip2(a);
  archive_read_support_filter_gzip(a);
  archive_read_support_filter_xz(a);
  archive_read_support_filter_zstd(a);
}

constexpr std::size_t archive_block_bytes = 1 << 18;

}  // namespace

void ArchiveReader::Close::operator()(archive* open) const { archive_read_free(open); }

void ArchiveReader::fail_call() const {
  const char* reason = archive_error_string(archive_.get());
  fail("{}{}{}: cannot be read: {}", path_.string(), name_.empty() ? "" : ": ", name_,
       one_line(reason ? reason : "unknown reason"));
}

ArchiveReader::ArchiveReader(const std::filesystem::path& path) : path_(path), archive_(archive_read_new()) {
  if (!archive_) throw std::bad_alloc();
  archive* a = archive_.get();
  support_compression(a);
  archive_read_support_format_empty(a);
  archive_read_support_format_raw(a);
  archive_read_support_format_tar(a);
  archive_read_support_format_zip(a);
  if (archive_read_open_filename(a, path.c_str(), archive_block_bytes) != ARCHIVE_OK) fail_call();
}

bool ArchiveReader::next() {
  name_.clear();
  for (;;) {
    archive_entry* entry = nullptr;
    const int result = archive_read_next_header(archive_.get(), &entry);
    if (result == ARCHIVE_EOF) return false;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) fail_call();
    if (archive_format(archive_.get()) == ARCHIVE_FORMAT_RAW) return true;
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    const char* name = archive_entry_pathname(entry);
    if (!name) name = archive_entry_pathname_utf8(entry);
    if (!name) fail("{}: holds a file without a readable name", path_.string());
    name_ = name;
    while (name_.starts_with("./")) name_.erase(0, 2);
    return true;
  }
}

// Memory grows with the data that arrives: sizes that a file only claims allocate nothing. Pieces go through a buffer,
// because resizing `to` first would clear the new bytes, which for many small files is most of the work.
void ArchiveReader::append(Bytes& to, std::int64_t max_bytes) {
  piece_.resize(1 << 16);
  for (;;) {
    const auto got = archive_read_data(archive_.get(), piece_.data(), piece_.size());
    if (got < 0) fail_call();
    if (got == 0) return;
    if (std::ssize(to) + got > max_bytes)
      fail("{}: more than {} would be held in memory; max_gigabytes raises the limit", path_.string(),
           human_bytes(max_bytes));
    to.insert(to.end(), piece_.begin(), piece_.begin() + got);
  }
}

Bytes ArchiveReader::first(std::size_t count) {
  Bytes bytes(count);
  const auto got = archive_read_data(archive_.get(), bytes.data(), count);
  if (got < 0) fail_call();
  bytes.resize(got);
  return bytes;
}

Bytes read_content(const std::filesystem::path& path, std::int64_t max_bytes) {
  ArchiveReader reader(path);
  Bytes content;
  if (!reader.next()) return content;
  if (!reader.name().empty()) fail("{}: is an archive; a single file is expected here", path.string());
  reader.append(content, max_bytes);
  return content;
}

Bytes first_content(const std::filesystem::path& path, std::size_t count) {
  const InputFile file(path);
  Bytes plain(std::min(file.size(), static_cast<std::int64_t>(count)));
  file.read_at(0, plain);

  const std::unique_ptr<archive, int (*)(archive*)> a(archive_read_new(), archive_read_free);
  if (!a) throw std::bad_alloc();
  support_compression(a.get());
  archive_read_support_format_raw(a.get());
  archive_entry* entry = nullptr;
  if (archive_read_open_fd(a.get(), file.descriptor(), archive_block_bytes) != ARCHIVE_OK ||
      archive_read_next_header(a.get(), &entry) != ARCHIVE_OK)
    return plain;
  Bytes content(count);
  const auto got = archive_read_data(a.get(), content.data(), count);
  if (got < 0) return plain;
  content.resize(got);
  return content;
}

std::int64_t read_memory_limit(Args& args) {
  const double gigabytes = args.real("max_gigabytes", 4);
  args.require(gigabytes > 0 && gigabytes <= 1e6, "max_gigabytes above 0 and at most 1e6");
  return static_cast<std::int64_t>(gigabytes * 1e9);
}

}  // namespace isobar::files
