#include "isobar/control/command.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::control {

Command::Command(const std::vector<std::string>& words, const Environment& environment) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  pid_ = fork();
  if (pid_ < 0) fail("'{}' cannot be started: {}", join(words, " "), std::strerror(errno));
  if (pid_ > 0) return;
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);  // a background process group may not read from the terminal
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  execvp(arguments[0], arguments.data());
  fmt::print(stderr, "isobar: '{}' cannot be started: {}\n", words[0], std::strerror(errno));
  _exit(127);
}

Command::~Command() {
  if (ended()) return;
  signal(SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::optional<int> Command::ended() {
  int status = 0;
  if (!code_ && waitpid(pid_, &status, WNOHANG) == pid_)
    code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return code_;
}

void Command::signal(int number) const {
  if (!code_ && kill(-pid_, number) != 0) kill(pid_, number);
}

}  // namespace isobar::control
