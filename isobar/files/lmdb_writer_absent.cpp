// Used if the LMDB library was not found: databases can be read, by our own code, but not written.
#include "isobar/base/error.hpp"
#include "isobar/files/lmdb_file.hpp"

namespace isobar::files {

LmdbWriter::LmdbWriter(std::filesystem::path folder, std::int64_t) : folder_(std::move(folder)) {
  fail("{}: cannot be written: this build has no LMDB; install liblmdb-dev and build again", folder_.path().string());
}

LmdbWriter::~LmdbWriter() = default;
void LmdbWriter::write(std::string_view, std::span<const std::uint8_t>) {}
void LmdbWriter::commit() {}

}  // namespace isobar::files
