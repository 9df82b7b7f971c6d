// The record book of `isobar bench`: every row is printed, and appended to a file as soon as it is known, so that what
// was measured survives an end before the end.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "isobar/bench/record.hpp"

namespace isobar::cli {

class RecordBook {
 public:
  /// Appends to `file`, whose folder is made; without a file rows are only remembered.
  RecordBook(const std::filesystem::path& file, int threads);

  /// Keeps a row, and prints it when `shown`.
  void add(bench::Record record, bool shown = true);
  /// Rows that other programs appended to the file since the last call become rows of this book.
  void take_others();
  /// All rows of this run.
  const std::vector<bench::Record>& rows() const { return rows_; }
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  std::ofstream out_;
  bench::Circumstances where_;
  std::size_t lines_ = 0;  // of the file that were there before this run, or are rows_
  std::vector<bench::Record> rows_;
};

}  // namespace isobar::cli
