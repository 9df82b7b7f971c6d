// LmdbFile: an LMDB database, read by our own walk over its pages: the library maps the file and trusts every offset in
// it, so a damaged file would crash the program. Values come in the order of their keys. New databases are written by
// the library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "isobar/disk/output_file.hpp"
#include "isobar/files/gzip.hpp"
#include "isobar/files/input_file.hpp"

struct MDB_env;
struct MDB_txn;

namespace isobar::files {

class LmdbFile {
 public:
  /// Opens data.mdb in a folder, or the file itself, and finds its values. Their list takes at most 8 times the size of
  /// the file, usually far less.
  explicit LmdbFile(const std::filesystem::path& path);

  std::int64_t size() const { return std::ssize(values_); }
  /// The value of key number `index`, stored in `scratch`; may be called from many threads at once.
  std::span<const std::uint8_t> value(std::int64_t index, ByteBuffer& scratch) const;
  const std::filesystem::path& path() const { return file_.path(); }

 private:
  struct Value {
    std::int64_t at;
    std::uint32_t bytes;
    bool apart;  // on its own pages
  };
  struct Root;

  Root find_root();
  void walk(std::int64_t page, int levels, std::int64_t& visits);
  std::span<const std::uint8_t> read_page(std::int64_t page, std::span<std::uint8_t> to) const;

  InputFile file_;
  std::int64_t page_bytes_ = 0, pages_ = 0;
  std::vector<Value> values_;
};

/// Whether bytes begin like a database.
bool begins_with_lmdb(std::span<const std::uint8_t> bytes);

/// Writes a new database, a folder with the file data.mdb; keys must come in order.
class LmdbWriter {
 public:
  /// `bytes` is the most that all keys and values take, with each entry rounded up to pages of 4096 bytes.
  LmdbWriter(std::filesystem::path folder, std::int64_t bytes);
  ~LmdbWriter();

  void write(std::string_view key, std::span<const std::uint8_t> value);
  /// Gives the folder its name.
  void commit();

 private:
  void check(int result) const;
  void begin();
  void end();

  disk::OutputFolder folder_;
  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  unsigned table_ = 0;
  int pending_ = 0;
};

}  // namespace isobar::files
