#include "isobar/post_mortem/post_mortem.hpp"

#include <ctime>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/post_mortem/flight_recorder.hpp"
#include "isobar/post_mortem/post_mortem_writer.hpp"

namespace isobar::post_mortem {

namespace fs = std::filesystem;

fs::path post_mortem_file(const fs::path& run_folder, int rank) {
  return run_folder / "post_mortem" / fmt::format("rank{}.txt", rank);
}

static std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string post_mortem_text(const PostMortem& report) {
  std::string text;
  PostMortemWriter out([](void* to, std::string_view piece) { static_cast<std::string*>(to)->append(piece); }, &text);
  out.heading(report.rank, report.told_by, std::time(nullptr));
  out.fact("cause", one_line(report.cause, 2000));
  out.fact("host", report.host.empty() ? host_name() : one_line(report.host));
  if (report.process > 0) out.fact("process", std::to_string(report.process));
  out.section("sums over ranks under way");
  for (const std::string& sum : report.sums) out.line(one_line(sum, 200));
  if (report.sums.empty()) out.line("none is known");
  out.section("what it did last");
  for (const std::string& note : report.notes) out.line(one_line(note, 200));
  if (report.notes.empty()) out.line("nothing is known");
  out.end();
  return text;
}

PostMortem own_post_mortem(int rank, std::string cause) {
  PostMortem report{.rank = rank, .process = getpid(), .cause = std::move(cause), .told_by = "the rank itself"};
  const auto into = [](std::vector<std::string>& list) {
    return [&list](const char* what, double ago) { list.push_back(fmt::format("-{:.3f} s  {}", ago, what)); };
  };
  flight_recorder().each_sum(into(report.sums));
  flight_recorder().each_note(into(report.notes));
  return report;
}

bool append_post_mortem(const fs::path& run_folder, const PostMortem& report) {
  const fs::path file = post_mortem_file(run_folder, report.rank);
  std::error_code problem;
  fs::create_directories(file.parent_path(), problem);
  const int out = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (out < 0) return false;
  const std::string text = post_mortem_text(report);
  const bool whole = write(out, text.data(), text.size()) == std::ssize(text);
  return close(out) == 0 && whole;
}

}  // namespace isobar::post_mortem
