#include "isobar/cli/record_book.hpp"

#include <cstdio>

#include "isobar/base/error.hpp"
#include "isobar/bench/record_text.hpp"

namespace isobar::cli {

RecordBook::RecordBook(const std::filesystem::path& file, int threads)
    : file_(file), where_(bench::these_circumstances(threads)) {
  if (file_.empty()) return;
  std::error_code problem;
  if (file_.has_parent_path()) std::filesystem::create_directories(file_.parent_path(), problem);
  if (std::filesystem::exists(file_, problem)) lines_ = bench::read_records(file_).size();
  out_.open(file_, std::ios::app);
  if (!out_) fail("bench: '{}' cannot be written", file_.string());
}

void RecordBook::add(bench::Record record, bool shown) {
  record.where = where_;
  if (shown) {
    fmt::print("{}", bench::record_text(record));
    std::fflush(stdout);
  }
  if (!file_.empty()) {
    out_ << bench::record_line(record) << std::endl;
    if (!out_) fail("bench: '{}' cannot be written", file_.string());
    ++lines_;
  }
  rows_.push_back(std::move(record));
}

void RecordBook::take_others() {
  if (file_.empty()) return;
  std::vector<bench::Record> all = bench::read_records(file_);
  for (; lines_ < all.size(); ++lines_) rows_.push_back(std::move(all[lines_]));
}

}  // namespace isobar::cli
