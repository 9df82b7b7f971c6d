#include "isobar/control/words.hpp"

#include <charconv>
#include <limits>

#include "isobar/base/error.hpp"

namespace isobar::control {
namespace {

constexpr std::size_t longest_text = 2000;
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

template <class Kind>
struct Named {
  Kind kind;
  std::string_view name;
};

constexpr Named<Report::Kind> reports[] = {
    {Report::Kind::hello, "hello"},     {Report::Kind::beat, "beat"},       {Report::Kind::progress, "progress"},
    {Report::Kind::folder, "folder"},   {Report::Kind::ready, "ready"},     {Report::Kind::fail, "fail"},
    {Report::Kind::give_up, "give_up"}, {Report::Kind::goodbye, "goodbye"}, {Report::Kind::where, "where"},
    {Report::Kind::died, "died"},
};
constexpr Named<Notice::Kind> notices[] = {
    {Notice::Kind::welcome, "welcome"}, {Notice::Kind::dead, "dead"}, {Notice::Kind::gone, "gone"},
    {Notice::Kind::go, "go"},           {Notice::Kind::over, "over"}, {Notice::Kind::relaunch, "relaunch"},
    {Notice::Kind::failure, "failure"}, {Notice::Kind::note, "note"}, {Notice::Kind::notes, "notes"},
    {Notice::Kind::leave, "leave"},     {Notice::Kind::stop, "stop"}, {Notice::Kind::expelled, "expelled"},
};

template <class Table, class Kind>
std::string_view name_of(const Table& table, Kind kind) {
  for (const auto& row : table)
    if (row.kind == kind) return row.name;
  expects(false, "a kind with a name");
  return {};
}

// Removes everything that could end the line or move a terminal's cursor.
std::string clean(std::string_view text) {
  std::string line(text.substr(0, longest_text));
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
  return line;
}

class Reader {
 public:
  explicit Reader(std::string_view line) : left_(line) {}

  std::string_view word() {
    const auto end = left_.find(' ');
    const std::string_view found = left_.substr(0, end);
    if (found.empty()) refuse();
    left_.remove_prefix(end == left_.npos ? left_.size() : end + 1);
    return found;
  }
  std::int64_t number(std::int64_t low, std::int64_t high) {
    const std::string_view text = word();
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size() || value < low || value > high) refuse();
    return value;
  }
  int rank() { return static_cast<int>(number(0, most_ranks - 1)); }
  std::uint32_t epoch() { return static_cast<std::uint32_t>(number(0, 0xffffffff)); }
  template <class Table>
  auto kind(const Table& table) {
    const std::string_view name = word();
    for (const auto& row : table)
      if (row.name == name) return row.kind;
    refuse();
  }
  std::string rest() { return clean(std::exchange(left_, {})); }
  bool more() const { return !left_.empty(); }
  void end() const {
    if (more()) refuse();
  }
  [[noreturn]] static void refuse() { fail("a line that is not part of the protocol of isobar run"); }

 private:
  std::string_view left_;
};

}  // namespace

std::string write(const Report& report) {
  const std::string_view name = name_of(reports, report.kind);
  switch (report.kind) {
    case Report::Kind::hello:
      return fmt::format("{} {} {} {} {} {} {}", name, report.shield ? "shield" : "rank", report.rank, report.launch,
                         report.pid, clean(report.host), clean(report.text));
    case Report::Kind::progress:
    case Report::Kind::goodbye: return fmt::format("{} {}", name, report.number);
    case Report::Kind::ready: return fmt::format("{} {}", name, report.epoch);
    case Report::Kind::where: return std::string(name);
    case Report::Kind::died:
      return fmt::format("{} {} {} {} {}", name, report.signal, report.number, report.step, clean(report.text));
    default: return fmt::format("{} {}", name, clean(report.text));
  }
}

std::string write(const Notice& notice) {
  const std::string_view name = name_of(notices, notice.kind);
  switch (notice.kind) {
    case Notice::Kind::welcome:
    case Notice::Kind::dead: return fmt::format("{} {} {}", name, notice.epoch, notice.rank);
    case Notice::Kind::gone: return fmt::format("{} {}", name, notice.rank);
    case Notice::Kind::go: return fmt::format("{} {} {}", name, notice.epoch, fmt::join(notice.members, " "));
    case Notice::Kind::relaunch: return fmt::format("{} {} {}", name, notice.epoch, clean(notice.text));
    case Notice::Kind::failure:
    case Notice::Kind::note: return fmt::format("{} {} {}", name, notice.rank, clean(notice.text));
    default: return std::string(name);
  }
}

Report read_report(std::string_view line) {
  Reader in(line);
  Report report;
  report.kind = in.kind(reports);
  switch (report.kind) {
    case Report::Kind::hello: {
      const std::string_view who = in.word();
      if (who != "rank" && who != "shield") Reader::refuse();
      report.shield = who == "shield";
      report.rank = in.rank();
      report.launch = static_cast<int>(in.number(0, 1'000'000));
      report.pid = in.number(1, largest);
      report.host = in.word();
      report.text = in.word();
      break;
    }
    case Report::Kind::progress: report.number = in.number(0, largest); break;
    case Report::Kind::goodbye: report.number = in.number(0, 255); break;
    case Report::Kind::ready: report.epoch = in.epoch(); break;
    case Report::Kind::where: break;
    case Report::Kind::died:
      report.signal = static_cast<int>(in.number(0, 128));
      report.number = in.number(0, 255);
      report.step = in.number(-1, largest);
      report.text = in.rest();
      break;
    default: report.text = in.rest();
  }
  in.end();
  return report;
}

Notice read_notice(std::string_view line) {
  Reader in(line);
  Notice notice;
  notice.kind = in.kind(notices);
  switch (notice.kind) {
    case Notice::Kind::welcome:
    case Notice::Kind::dead:
      notice.epoch = in.epoch();
      notice.rank = static_cast<int>(in.number(0, most_ranks));
      break;
    case Notice::Kind::gone: notice.rank = in.rank(); break;
    case Notice::Kind::go:
      notice.epoch = in.epoch();
      while (in.more()) notice.members.push_back(in.rank());
      if (notice.members.empty()) Reader::refuse();
      break;
    case Notice::Kind::relaunch:
      notice.epoch = in.epoch();
      notice.text = in.rest();
      break;
    case Notice::Kind::failure:
    case Notice::Kind::note:
      notice.rank = static_cast<int>(in.number(-1, most_ranks - 1));
      notice.text = in.rest();
      break;
    default: break;
  }
  in.end();
  return notice;
}

}  // namespace isobar::control
