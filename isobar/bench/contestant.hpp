// A contestant: a program that runs training steps when told to, over a line protocol on its standard input and output.
// Ours and every peer speak it, each in its own process, so that memory is counted apart and both wait while the other
// runs. On start it says "ready NAME"; "step N" is answered with the N times in seconds on one line, "forward N" with
// those of evaluation, "memory" with its peak resident bytes, end of input with its end. Ours answers "exchange" and
// "profile N" as well; see serving.hpp.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace isobar::bench {

class Contestant {
 public:
  /// Starts the program and waits until it is ready; throws Error with what it said when it is not.
  explicit Contestant(const std::vector<std::string>& command);
  ~Contestant();
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  const std::string& name() const { return name_; }
  /// Seconds of each of `count` training steps, run now.
  std::vector<double> steps(int count);
  double peak_bytes();
  /// Asks for numbers.
  std::vector<double> numbers(const std::string& question);
  /// Asks, and returns the line that is answered.
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
