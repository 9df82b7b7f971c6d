// Runs bin/isobar on several ranks in tests, with either launcher, and stops or kills single ranks.
#pragma once

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>
#include <unistd.h>

#include "tests/cli/program.hpp"

struct LaunchKind {
  std::string name, program, words;  // words start ranks: "mpiexec.mpich -n"
};

inline std::ostream& operator<<(std::ostream& out, const LaunchKind& kind) { return out << kind.name; }

/// One for every MPI library of this build, from tests/cli/CMakeLists.txt; the first is that of bin/isobar.
inline std::vector<LaunchKind> launch_kinds() { return {ISOBAR_LAUNCH_KINDS}; }

// A run of ten steps with evaluation, a few tenths of a second long.
inline std::string small_recipe(const TemporaryFolder& folder) {
  const std::string path = folder / "recipe.toml";
  std::ofstream(path)
      << "model = \"cosmoflow(size=8, width=4, layers=2, dropout=0)\"\noptimizer = \"sgd(lr=0.01)\"\n[data]\n"
         "train = \"noise(shape=[8, 8, 8, 4], targets=4, count=40)\"\n"
         "test = \"noise(shape=[8, 8, 8, 4], targets=4, count=13, seed=9)\"\n"
         "batch = 8\n[train]\nepochs = 2\n";
  return path;
}

/// One launch in the background; its output goes to a file.
class Launched {
 public:
  // `command` is a shell command; all its processes carry a mark in their environment.
  Launched(const std::string& command, const std::string& output) : output_(output) {
    mark_ = "ISOBAR_TEST_LAUNCH=" + output;
    process_ = fork();
    if (process_ < 0) throw std::runtime_error("cannot fork");
    if (process_ == 0) {
      setsid();
      const std::string line = mark_ + " exec " + command + " > " + output + " 2>&1 < /dev/null";
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
  }
  ~Launched() {
    for (const pid_t left : marked()) kill(left, SIGKILL);
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
  }
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

  // The process of a rank, or -1 while there is none.
  pid_t rank(int number) const {
    for (const pid_t process : marked())
      for (const char* name : {"PMI_RANK=", "OMPI_COMM_WORLD_RANK="})
        if (is_program(process) && has_variable(process, name + std::to_string(number))) return process;
    return -1;
  }
  // The process of a program that a shell runs, or -1 while there is none.
  pid_t program() const {
    for (const pid_t process : marked())
      if (is_program(process)) return process;
    return -1;
  }
  pid_t process() const { return process_; }
  // Sends a signal to a rank or program; kill() would send it to all processes of the machine if there is none.
  static void send_to(pid_t process, int signal) {
    ASSERT_GT(process, 0) << "there is no such process";
    kill(process, signal);
  }
  // Sends a signal to the launched process, not to its ranks.
  void send(int signal) const { send_to(process_, signal); }
  // Waits until `holds` returns true; false if it does not within three minutes, or if the launch has ended.
  bool wait_until(const std::function<bool()>& holds) {
    for (int i = 0; i < 18000; ++i) {
      if (holds()) return true;
      if (i % 20 == 0 && ended(0)) return holds();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  // Stops a rank (SIGSTOP) at a moment when `holds` is true, and returns its process. `holds` is checked again once all
  // threads are stopped; if it has become false, the rank continues and is tried again. -1 if that fails for a minute.
  pid_t stopped_when(int number, const std::function<bool()>& holds) {
    pid_t victim = -1;
    if (!wait_until([&] { return (victim = rank(number)) > 0; })) return -1;
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < end && !ended(0)) {
      if (!holds()) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        continue;
      }
      kill(victim, SIGSTOP);
      while (!is_still(victim) && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (holds()) return victim;
      kill(victim, SIGCONT);
    }
    return -1;
  }
  // Whether a rank exists and all its threads are stopped.
  bool stands_still(int number) const {
    const pid_t process = rank(number);
    return process > 0 && is_still(process);
  }
  // How it ended within `seconds`; code -1 if it did not.
  Outcome outcome(double seconds) {
    const auto begin = std::chrono::steady_clock::now();
    while (!ended(0) && std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(seconds))
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::ifstream in(output_);
    return {ended(0) ? code_ : -1, {std::istreambuf_iterator<char>(in), {}}};
  }
  // Ranks and helper processes of this launch that still exist.
  std::vector<pid_t> marked() const {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const auto process = static_cast<pid_t>(std::stol(name));
      if (process != process_ && has_variable(process, mark_) && state(process) != 'Z') found.push_back(process);
    }
    return found;
  }
  double seconds() const { return seconds_; }

 private:
  static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string comm(pid_t process) { return content("/proc/" + std::to_string(process) + "/comm"); }
  // Not one of its helpers.
  static bool is_program(pid_t process) {
    const std::string name = comm(process);
    return name.starts_with("isobar") && name.find("witness") == name.npos && name.find("shield") == name.npos;
  }
  static char state(pid_t process) {
    const std::string line = content("/proc/" + std::to_string(process) + "/stat");
    const std::size_t at = line.rfind(')');
    return at == std::string::npos || at + 2 >= line.size() ? 'Z' : line[at + 2];
  }
  static bool is_still(pid_t process) {
    std::error_code gone;
    for (const auto& thread : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", gone)) {
      const std::string line = content(thread.path() / "stat");
      const std::size_t at = line.rfind(')');
      if (at != std::string::npos && at + 2 < line.size() && line[at + 2] != 'T') return false;
    }
    return true;
  }
  static bool has_variable(pid_t process, const std::string& variable) {
    const std::string all = '\0' + content("/proc/" + std::to_string(process) + "/environ");
    return all.find('\0' + variable + '\0') != std::string::npos;
  }
  bool ended(int options) {
    if (process_ < 0) return true;
    int status = 0;
    if (waitpid(process_, &status, options | WNOHANG) != process_) return false;
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    process_ = -1;
    return true;
  }

  std::string output_, mark_;
  pid_t process_ = -1;
  int code_ = -1;
  double seconds_ = 0;
};
