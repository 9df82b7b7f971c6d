#include "isobar/control/words.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>

#include "isobar/base/error.hpp"

namespace isobar::control {
namespace {

constexpr std::size_t longest_text = 2000;
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max(), largest_epoch = 0xffffffff;

// In the order of their kinds.
constexpr std::string_view report_names[] = {"hello", "beat",    "progress", "folder", "ready", "alone",
                                             "fail",  "give_up", "goodbye",  "where",  "died"};
constexpr std::string_view notice_names[] = {"welcome", "dead", "gone",  "go",    "over", "relaunch",
                                             "failure", "note", "notes", "leave", "stop", "expelled"};
static_assert(std::size(report_names) == static_cast<std::size_t>(Report::Kind::died) + 1);
static_assert(std::size(notice_names) == static_cast<std::size_t>(Notice::Kind::expelled) + 1);
using Names = std::span<const std::string_view>;

// Removes everything that could end the line or move a terminal's cursor.
std::string clean(std::string_view text) {
  std::string line(text.substr(0, longest_text));
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
  return line;
}

class Writer {
 public:
  template <class Kind>
  void kind(Kind value, Names names) {
    line_ = names[static_cast<std::size_t>(value)];
  }
  template <class Number>
  void number(Number value, std::int64_t, std::int64_t) {
    line_ += fmt::format(" {}", value);
  }
  void either(bool value, std::string_view yes, std::string_view no) { word(std::string(value ? yes : no)); }
  void word(const std::string& text) { line_ += " " + clean(text); }
  void rest(const std::string& text) { word(text); }
  void ranks(const std::vector<int>& list) { line_ += fmt::format(" {}", fmt::join(list, " ")); }
  const std::string& line() const { return line_; }

 private:
  std::string line_;
};

class Reader {
 public:
  explicit Reader(std::string_view line) : left_(line) {}

  template <class Number>
  void number(Number& value, std::int64_t low, std::int64_t high) {
    const std::string_view text = next();
    std::int64_t whole = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (problem != std::errc() || end != text.data() + text.size() || whole < low || whole > high) refuse();
    value = static_cast<Number>(whole);
  }
  void either(bool& value, std::string_view yes, std::string_view no) {
    const std::string_view text = next();
    if (text != yes && text != no) refuse();
    value = text == yes;
  }
  void word(std::string& text) { text = next(); }
  void rest(std::string& text) { text = clean(std::exchange(left_, {})); }
  void ranks(std::vector<int>& list) {
    do number(list.emplace_back(), 0, most_ranks - 1);
    while (!left_.empty());
  }
  template <class Kind>
  void kind(Kind& value, Names names) {
    const auto found = std::ranges::find(names, next());
    if (found == names.end()) refuse();
    value = static_cast<Kind>(found - names.begin());
  }
  void end() const {
    if (!left_.empty()) refuse();
  }

 private:
  std::string_view next() {
    const auto end = left_.find(' ');
    const std::string_view found = left_.substr(0, end);
    if (found.empty()) refuse();
    left_.remove_prefix(end == left_.npos ? left_.size() : end + 1);
    return found;
  }
  [[noreturn]] static void refuse() { fail("a line that is not part of the protocol of isobar run"); }

  std::string_view left_;
};

// The parts of a message in order, with the numbers that are valid: for writing and for reading.
template <class Line>
void each_part(Line& line, Report& report) {
  line.kind(report.kind, report_names);
  switch (report.kind) {
    case Report::Kind::hello:
      line.either(report.shield, "shield", "rank");
      line.number(report.rank, 0, most_ranks - 1);
      line.number(report.launch, 0, 1'000'000);
      line.number(report.pid, 1, largest);
      line.word(report.host);
      return line.word(report.text);
    case Report::Kind::progress: return line.number(report.number, 0, largest);
    case Report::Kind::goodbye: return line.number(report.number, 0, 255);
    case Report::Kind::ready: return line.number(report.epoch, 0, largest_epoch);
    case Report::Kind::alone:
    case Report::Kind::where: return;
    case Report::Kind::died:
      line.number(report.signal, 0, 128);
      line.number(report.number, 0, 255);
      line.number(report.step, -1, largest);
      return line.rest(report.text);
    default: return line.rest(report.text);
  }
}

template <class Line>
void each_part(Line& line, Notice& notice) {
  line.kind(notice.kind, notice_names);
  switch (notice.kind) {
    case Notice::Kind::welcome:
    case Notice::Kind::dead:
      line.number(notice.epoch, 0, largest_epoch);
      return line.number(notice.rank, 0, most_ranks);
    case Notice::Kind::gone: return line.number(notice.rank, 0, most_ranks - 1);
    case Notice::Kind::go: line.number(notice.epoch, 0, largest_epoch); return line.ranks(notice.members);
    case Notice::Kind::relaunch: line.number(notice.epoch, 0, largest_epoch); return line.rest(notice.text);
    case Notice::Kind::failure:
    case Notice::Kind::note: line.number(notice.rank, -1, most_ranks - 1); return line.rest(notice.text);
    default: return;
  }
}

template <class Message>
std::string written(Message message) {
  Writer out;
  each_part(out, message);
  return out.line();
}

template <class Message>
Message parsed(std::string_view line) {
  Reader in(line);
  Message message;
  each_part(in, message);
  in.end();
  return message;
}

}  // namespace

std::string write(const Report& report) { return written(report); }
std::string write(const Notice& notice) { return written(notice); }
Report read_report(std::string_view line) { return parsed<Report>(line); }
Notice read_notice(std::string_view line) { return parsed<Notice>(line); }

}  // namespace isobar::control
