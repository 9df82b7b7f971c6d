// A contestant: a program that runs training steps on request, over a line protocol on its standard input and output.
// Ours and every peer speak it, each in its own process, so that memory is counted separately and one waits while
// another runs. On start it prints "ready NAME"; it answers "step N" with the N times in seconds on one line, "forward
// N" with those of evaluation, and "memory" with its peak resident bytes; it ends at the end of input. Ours also
// answers "exchange" and "profile N"; see serving.hpp.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace isobar::bench {

class Contestant {
 public:
  /// Starts the program and waits until it is ready; if it fails, throws Error with its output.
  explicit Contestant(const std::vector<std::string>& command);
  ~Contestant();
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  const std::string& name() const { return name_; }
  /// Seconds of each of `count` training steps, run now.
  std::vector<double> steps(int count);
  double peak_bytes();
  /// Sends a question and returns the numbers of the answer.
  std::vector<double> numbers(const std::string& question);
  /// Sends a question and returns the line of the answer.
  std::string ask(const std::string& question);

 private:
  std::string answer();

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  pid_t process_ = -1;
  std::unique_ptr<std::FILE, Close> to_, from_;
  std::string command_, name_;
};

}  // namespace isobar::bench
