#include "isobar/cli/launcher.hpp"

#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/comm_mpi/world.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

bool on_the_path(const std::string& program) {
  std::istringstream folders(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

// Debian installs both MPI libraries side by side, with distinct names; elsewhere there is one, called mpiexec.
std::string first_found(std::vector<std::string> names) {
  for (const std::string& name : names)
    if (on_the_path(name)) return name;
  fail("no launcher for {} ({}) was found on the PATH; --launcher names one", comm_mpi::library(), join(names, ", "));
}

}  // namespace

std::vector<std::string> launch_words(int ranks, const std::string& launcher) {
  std::vector<std::string> words;
  if (!launcher.empty()) {
    std::istringstream in(launcher);
    for (std::string word; in >> word;) words.push_back(word == "{}" ? std::to_string(ranks) : word);
    if (launcher.find("{}") == std::string::npos)
      fail_usage("launcher '{}' does not say where the number of ranks goes: 'mpiexec -n {{}}'", launcher);
    return words;
  }
  if (comm_mpi::library() == comm_mpi::no_library)
    fail(
        "cannot start {} ranks: this build has no MPI; install libmpich-dev and mpich, or load the module of your "
        "site's MPI, and build again",
        ranks);
  if (comm_mpi::library() == "Open MPI") {
    words = {first_found({"mpirun.openmpi", "mpirun"}), "--oversubscribe"};
    if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
  } else {
    words = {first_found({"mpiexec.mpich", "mpiexec.hydra", "mpiexec"})};
  }
  words.emplace_back("-n");
  words.push_back(std::to_string(ranks));
  return words;
}

std::string this_program() {
  std::error_code problem;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem) fail("the path of this program is not known: {}", problem.message());
  return path.string();
}

ChildEnd run_child(const ChildCommand& child) {
  std::vector<char*> arguments;
  for (const std::string& word : child.words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const std::string output = child.output.string();
  const pid_t self = getpid();
  const pid_t process = fork();
  if (process < 0) fail("'{}' cannot be started: {}", join(child.words, " "), std::strerror(errno));
  if (process == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != self) _exit(exit_interrupted);
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    if (!output.empty()) {
      const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
      if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0) _exit(126);
    }
    for (const auto& [name, value] : child.environment) setenv(name.c_str(), value.c_str(), 1);
    execvp(arguments[0], arguments.data());
    fmt::print(stderr, "isobar: '{}' cannot be started: {}\n", child.words[0], std::strerror(errno));
    _exit(127);
  }
  int status = 0;
  rusage used{};
  for (bool told = false; wait4(process, &status, WNOHANG, &used) == 0;) {
    if (stop_requested() && !told) told = kill(process, SIGTERM) == 0;
    if (child.meanwhile) child.meanwhile();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  constexpr double kilobyte = 1024;
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
          kilobyte * static_cast<double>(used.ru_maxrss)};
}

}  // namespace isobar::cli
