// Writes LMDB databases, through the library.
#include <lmdb.h>
#include <utility>

#include "isobar/base/error.hpp"
#include "isobar/files/lmdb_file.hpp"

namespace isobar::files {

void LmdbWriter::check(int result) const {
  if (result != MDB_SUCCESS) fail("{}: cannot be written: {}", folder_.path().string(), mdb_strerror(result));
}

LmdbWriter::LmdbWriter(std::filesystem::path folder, std::int64_t bytes) : folder_(std::move(folder)) {
  check(mdb_env_create(&environment_));
  // Room for the tree above the values, and for pages that are rewritten during a transaction.
  constexpr std::int64_t spare = std::int64_t{1} << 26, unit = 1 << 20;
  const std::int64_t room = (bytes + bytes / 4 + spare) / unit * unit;
  try {
    check(mdb_env_set_mapsize(environment_, room));
    // Nobody sees the folder before it is complete: no locks, and one flush at the end.
    check(mdb_env_open(environment_, folder_.inside().c_str(), MDB_NOLOCK | MDB_NOSYNC, 0644));
    begin();
    check(mdb_dbi_open(transaction_, nullptr, 0, &table_));
  } catch (...) {
    end();
    throw;
  }
}

LmdbWriter::~LmdbWriter() { end(); }

void LmdbWriter::begin() { check(mdb_txn_begin(environment_, nullptr, 0, &transaction_)); }

void LmdbWriter::end() {
  if (transaction_) mdb_txn_abort(std::exchange(transaction_, nullptr));
  if (environment_) mdb_env_close(std::exchange(environment_, nullptr));
}

void LmdbWriter::write(std::string_view key, std::span<const std::uint8_t> value) {
  constexpr int at_once = 1000;
  if (pending_++ == at_once) {
    check(mdb_txn_commit(std::exchange(transaction_, nullptr)));
    begin();
    pending_ = 1;
  }
  MDB_val name{key.size(), const_cast<char*>(key.data())};
  MDB_val content{value.size(), const_cast<std::uint8_t*>(value.data())};
  check(mdb_put(transaction_, table_, &name, &content, MDB_APPEND));
}

void LmdbWriter::commit() {
  check(mdb_txn_commit(std::exchange(transaction_, nullptr)));
  check(mdb_env_sync(environment_, 1));
  end();
  folder_.commit();
}

}  // namespace isobar::files
