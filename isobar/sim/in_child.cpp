#include "isobar/sim/in_child.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "isobar/base/descriptor.hpp"
#include "isobar/base/error.hpp"

namespace isobar::sim {

namespace {

/// What a report begins with: what became of the work. It ends with `whole`, so that half a report is seen as such.
enum MessageKind : char { result = 'r', error = 'e', usage_error = 'u', mistake = 'm' };
constexpr char whole = '.';

struct Pipe {
  Descriptor reading, writing;
};

Pipe make_pipe() {
  int ends[2];
  if (pipe(ends) != 0) fail("no pipe to a process that simulates can be made: {}", std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::string read_all(const Descriptor& from) {
  std::string text;
  char piece[1 << 16];
  while (true) {
    const ssize_t got = read(*from, piece, sizeof piece);
    if (got == 0) return text;
    if (got > 0) text.append(piece, got);
    if (got < 0 && errno != EINTR) fail("reading from a process that simulates: {}", std::strerror(errno));
  }
}

bool write_all(const Descriptor& to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(*to, text.data(), text.size());
    if (put < 0 && errno != EINTR) return false;
    if (put > 0) text.remove_prefix(put);
  }
  return true;
}

/// A process that is ended and waited for whatever happens.
class Child {
 public:
  explicit Child(pid_t process) : process_(process) {}
  ~Child() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;

  int wait() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    return status;
  }

 private:
  pid_t process_;
};

/// Does the work and sends `kind text whole`; want of memory must not need any.
bool report(const std::function<std::string()>& work, const Descriptor& to) {
  const auto send = [&](MessageKind kind, std::string_view text) {
    const char first = kind;
    return write_all(to, {&first, 1}) && write_all(to, text) && write_all(to, {&whole, 1});
  };
  try {
    return send(result, work());
  } catch (const UsageError& caught) {
    return send(usage_error, caught.what());
  } catch (const Error& caught) {
    return send(error, caught.what());
  } catch (const std::bad_alloc&) {
    return send(error, "the simulation needs more memory than there is");
  } catch (const std::logic_error& caught) {
    return send(mistake, caught.what());
  } catch (const std::exception& caught) {
    return send(error, caught.what());
  } catch (...) {
    return send(error, "the simulation ended by an exception of unknown kind");
  }
}

[[noreturn]] void be_child(const std::function<std::string()>& work, Pipe& pipe, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before the signal was asked for
  pipe.reading = Descriptor();
  const bool told = report(work, pipe.writing);
  std::fflush(stdout);
  std::cout.flush();
  _exit(told ? 0 : 1);
}

[[noreturn]] void fail_with(int status) {
  if (!WIFSIGNALED(status))
    fail("the simulation's process left with code {} and without a result", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  fail("the simulation's process died of signal {} ({}){}", signal, strsignal(signal),
       signal == SIGKILL ? "; perhaps the machine was short of memory" : "");
}

}  // namespace

std::string in_child(const std::function<std::string()>& work) {
  // Only one pipe at a time may have its writing end in this process: a child of another thread would inherit it and
  // keep it open.
  static std::mutex forking;
  std::unique_lock<std::mutex> alone(forking);
  Pipe pipe = make_pipe();
  // What the parent has not yet written must not be written by the child as well.
  std::cout.flush();
  std::fflush(stdout);
  const pid_t parent = getpid(), process = fork();
  if (process < 0) fail("no process to simulate in can be started: {}", std::strerror(errno));
  if (process == 0) {
    alone.unlock();
    be_child(work, pipe, parent);
  }
  Child child(process);
  pipe.writing = Descriptor();
  alone.unlock();
  std::string text = read_all(pipe.reading);
  const int status = child.wait();
  if (text.size() < 2 || text.back() != whole || status != 0) fail_with(status);
  const char kind = text.front();
  text.pop_back();
  text.erase(0, 1);
  if (kind == usage_error) throw UsageError(text);
  if (kind == error) throw Error(text);
  if (kind == mistake) throw std::logic_error(text);
  return text;
}

}  // namespace isobar::sim
