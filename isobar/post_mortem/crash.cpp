#include "isobar/post_mortem/crash.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isobar/post_mortem/flight_recorder.hpp"
#include "isobar/post_mortem/post_mortem.hpp"
#include "isobar/post_mortem/post_mortem_writer.hpp"

namespace isobar::post_mortem {
namespace {

struct Crash {
  int number;
  const char* name;
};
constexpr Crash crashes[] = {{SIGSEGV, "SIGSEGV, segmentation fault"},
                             {SIGBUS, "SIGBUS, bus error"},
                             {SIGILL, "SIGILL, illegal instruction"},
                             {SIGFPE, "SIGFPE, arithmetic"},
                             {SIGABRT, "SIGABRT, aborted"}};

// What the handler reads; texts are zero-terminated.
struct {
  std::atomic<int> rank = -1;
  std::atomic<bool> has_folder = false;
  char run[4096], folder[4096], file[4096], host[256];
} place;
std::atomic<pid_t> reporting = 0;  // the thread that writes a report
alignas(16) std::array<char, 1 << 16> handler_stack;

void put_into(void* file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(*static_cast<int*>(file), text.data(), text.size());
    if (wrote <= 0) return;
    text.remove_prefix(wrote);
  }
}

void put_cause(PostMortemWriter& out, const siginfo_t& info) {
  out.put("died of signal ", Digits(info.si_signo));
  for (const Crash& crash : crashes)
    if (crash.number == info.si_signo) out.put(" (", crash.name, ")");
  if (info.si_code > 0 && info.si_signo != SIGABRT)
    out.put(" at address ", Hexadecimal{reinterpret_cast<std::uint64_t>(info.si_addr)});
  else if (info.si_pid > 0 && info.si_pid != getpid()) out.put(", sent by process ", Digits(info.si_pid));
}

// The stack comes last: reading it may itself fail if memory is corrupted.
void put_report(int file, const siginfo_t& info) {
  PostMortemWriter out(put_into, &file);
  out.heading(place.rank, "the rank itself", std::time(nullptr));
  out.put("cause:    ");
  put_cause(out, info);
  out.put("\n");
  out.fact("host", place.host);
  out.put("process:  ", Digits(getpid()), "\n");
  bool any = false;
  const auto line = [&](const char* what, double ago) {
    any = true;
    out.line(what, ago);
  };
  out.section("sums over ranks under way");
  flight_recorder().each_sum(line);
  if (!any) out.line("none");
  out.section("what it did last");
  flight_recorder().each_note(line);
  out.section("stack (addr2line -Cfpe PROGRAM ADDRESS names the functions)");
  void* frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), file);
  out.end();
}

void write_report(const siginfo_t& info) {
  int standard_error = STDERR_FILENO, file = -1;
  if (place.has_folder) {
    mkdir(place.folder, 0777);
    file = open(place.file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  }
  PostMortemWriter out(put_into, &standard_error);
  out.put("isobar: [rank ", Digits(std::max(0, place.rank.load())), "] ");
  put_cause(out, info);
  if (file >= 0) out.put("; see ", place.file);
  out.put("\n");
  put_report(file >= 0 ? file : standard_error, info);
  if (file >= 0) close(file);
}

[[noreturn]] void die_of(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  _exit(128 + signal);
}

void on_crash(int signal, siginfo_t* info, void*) {
  constexpr unsigned longest_seconds = 10;
  pid_t nobody = 0;
  const pid_t self = gettid();
  if (!reporting.compare_exchange_strong(nobody, self)) {
    // If another thread is writing its report, it will end the process. If this thread is, writing itself crashed.
    if (nobody != self) sleep(longest_seconds);
    die_of(signal);
  }
  std::signal(SIGALRM, SIG_DFL);
  alarm(longest_seconds);  // a report that hangs must not keep the rank from dying
  write_report(*info);
  die_of(signal);
}

[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    flight_recorder().note(std::string("uncaught exception: ") + error.what());
  } catch (...) {
    flight_recorder().note("uncaught exception of an unknown type");
  }
  std::abort();
}

}  // namespace

void catch_crashes(int rank) {
  place.rank = rank;
  gethostname(place.host, sizeof place.host - 1);
  void* frame = nullptr;
  backtrace(&frame, 1);  // makes it load its library now, which a handler must not do
  const stack_t stack{handler_stack.data(), 0, handler_stack.size()};
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const Crash& crash : crashes) sigaction(crash.number, &action, nullptr);
  std::set_terminate(on_terminate);
}

void set_post_mortem_folder(const std::filesystem::path& run_folder) {
  place.has_folder = false;
  const std::string run = run_folder.string(), file = post_mortem_file(run_folder, place.rank).string(),
                    folder = post_mortem_file(run_folder, place.rank).parent_path().string();
  if (run_folder.empty() || file.size() >= sizeof place.file) return;
  std::strcpy(place.run, run.c_str());
  std::strcpy(place.folder, folder.c_str());
  std::strcpy(place.file, file.c_str());
  place.has_folder = true;
}

void report_failure(const std::string& message) {
  if (place.has_folder) append_post_mortem(place.run, own_post_mortem(place.rank, message));
}

}  // namespace isobar::post_mortem
