#include "isobar/bench/contestant.hpp"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::bench {

Contestant::Contestant(const std::vector<std::string>& command) : command_(join(command, " ")) {
  int down[2], up[2];  // its input and output; contestants started later must not hold them open
  if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0)
    fail("'{}': no pipe: {}", command_, std::strerror(errno));
  process_ = fork();
  if (process_ < 0) fail("'{}' cannot be started: {}", command_, std::strerror(errno));
  if (process_ == 0) {
    dup2(down[0], STDIN_FILENO);
    dup2(up[1], STDOUT_FILENO);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  std::signal(SIGPIPE, SIG_IGN);  // a missing answer shows that a contestant died
  to_.reset(fdopen(down[1], "w"));
  from_.reset(fdopen(up[0], "r"));
  const std::string greeting = answer();
  if (!greeting.starts_with("ready ")) fail("'{}' answered '{}' instead of 'ready'", command_, greeting);
  name_ = greeting.substr(6);
}

Contestant::~Contestant() {
  to_.reset();  // it exits at the end of its input
  from_.reset();
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

std::string Contestant::answer() {
  char* line = nullptr;
  std::size_t room = 0;
  const ssize_t length = getline(&line, &room, from_.get());
  std::string text(line && length > 0 ? line : "");
  std::free(line);
  if (length <= 0) fail("'{}' ended without an answer", command_);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string Contestant::ask(const std::string& question) {
  std::fprintf(to_.get(), "%s\n", question.c_str());
  std::fflush(to_.get());
  return answer();
}

std::vector<double> Contestant::numbers(const std::string& question) {
  std::istringstream words(ask(question));
  std::vector<double> values;
  for (double value = 0; words >> value;) values.push_back(value);
  return values;
}

std::vector<double> Contestant::steps(int count) {
  const std::vector<double> seconds = numbers(fmt::format("step {}", count));
  if (std::ssize(seconds) != count) fail("'{}' answered {} times to {} steps", command_, seconds.size(), count);
  return seconds;
}

double Contestant::peak_bytes() { return std::stod(ask("memory")); }

}  // namespace isobar::bench
