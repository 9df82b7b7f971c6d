// The record book of `isobar bench`: every row is printed, and appended to a file as soon as it is known, so that
// measurements survive if the program is stopped.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "isobar/bench/record.hpp"

namespace isobar::cli {

class RecordBook {
 public:
  /// Appends to `file`, whose folder is created; without a file, rows are only kept in memory.
  RecordBook(const std::filesystem::path& file, int threads);

  /// Keeps a row, and prints it if `shown`.
  void add(bench::Record record, bool shown = true);
  /// Adds the rows that other programs have appended to the file since the last call.
  void take_others();
  /// All rows of this run.
  const std::vector<bench::Record>& rows() const { return rows_; }
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  std::ofstream out_;
  bench::Circumstances where_;
  std::size_t lines_ = 0;  // of the file that existed before this run, or are in rows_
  std::vector<bench::Record> rows_;
};

}  // namespace isobar::cli
