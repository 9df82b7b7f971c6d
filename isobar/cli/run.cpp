// isobar run -n 4 --spares 1 -- train RECIPE.toml: training that survives the death of ranks. It starts the ranks with
// the launcher of this program's MPI library and supervises them (isobar/control).
#include <filesystem>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/cli/launcher.hpp"
#include "isobar/comm_mpi/launch.hpp"
#include "isobar/comm_mpi/world.hpp"
#include "isobar/control/address.hpp"
#include "isobar/control/supervisor.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

constexpr const char* explanation =
    "Trains on several ranks and continues when some of them die: a rank that is killed, crashes or\n"
    "freezes is dropped, a spare takes its place if there is one, and the others do the interrupted\n"
    "step again. Nothing that was finished is lost. Where that is impossible all ranks are restarted\n"
    "and continue from the newest checkpoint.\n\n"
    "  isobar run -n 4 -- train recipe.toml                four ranks on this machine\n"
    "  isobar run -n 4 --spares 1 -- train recipe.toml     and one that waits until another dies\n"
    "  isobar run -n 4 --hosts a,b -- train recipe.toml    two on each of two hosts\n"
    "  isobar run -n 64 --launcher 'srun -n {} --kill-on-bad-exit=0' -- train recipe.toml\n"
    "                                                      inside a Slurm job\n\n"
    "Ctrl-C, SIGTERM or SIGUSR1 let ranks finish the current step and write a checkpoint; the exit\n"
    "code is then 130, and the same command with --resume after 'train recipe.toml' continues.";

struct RunOptions {
  int ranks = 0, spares = 0, least = 1, relaunches = 5;
  double freeze_seconds = 10, hello_seconds = 60;
  std::string launcher, address, log;
  std::vector<std::string> hosts, words;
};

// The words and variables that start ranks so that the MPI library and its launcher survive their deaths.
void add_launch(control::Supervision& supervision, const RunOptions& options) {
  const int processes = options.ranks + options.spares;
  const bool open_mpi = comm_mpi::library() == "Open MPI";
  const bool here = options.hosts.empty() && options.launcher.empty();
  supervision.command = launch_words(processes, options.launcher);
  std::vector<std::string> more;
  if (options.launcher.empty()) {
    if (open_mpi) more = {"--enable-recovery", "-x", control::address_variable, "-x", "ISOBAR_LAUNCH"};
    else more = {"-disable-auto-cleanup"};
    if (!options.hosts.empty())
      for (const std::string& word : {std::string(open_mpi ? "--host" : "-hosts"), join(options.hosts, ",")})
        more.push_back(word);
  }
  supervision.command.insert(supervision.command.begin() + 1, more.begin(), more.end());
  // Transports that copy directly between processes end the survivors when one dies; the queues that UCX keeps in
  // shared memory can be blocked by a killed sender.
  if (open_mpi) supervision.environment = {{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl", here ? "vader,self" : "tcp,self"}};
  else supervision.environment = {{"UCX_TLS", "tcp,self"}};
  if (!open_mpi && here) supervision.environment.emplace_back("UCX_NET_DEVICES", "lo");
  supervision.everywhere = !here || !options.address.empty();
  supervision.address = !options.address.empty() ? options.address : here ? "127.0.0.1" : control::host_name();
}

int run_supervised(const RunOptions& options, bool separated) {
  if (!separated) fail_usage("run: put the command to run after --: isobar run -n 4 -- train recipe.toml");
  if (options.words.empty() || options.words[0] != "train")
    fail_usage("run: '{}' cannot be supervised; only train can: isobar run -n 4 -- train recipe.toml",
               options.words.empty() ? "" : options.words[0]);
  if (options.least > options.ranks)
    fail_usage("run: --min-ranks {} is more than the {} ranks of -n", options.least, options.ranks);
  if (!comm_mpi::launched().launcher.empty())
    fail_usage("run: it starts ranks itself and cannot be started as a rank of {}", comm_mpi::launched().launcher);
  control::Supervision supervision{.ranks = {options.ranks, options.spares, options.least}, .command = {}};
  add_launch(supervision, options);
  supervision.command.push_back(this_program());
  for (const std::string& word : options.words) supervision.command.push_back(word);
  supervision.freeze_seconds = options.freeze_seconds;
  supervision.hello_seconds = options.hello_seconds;
  supervision.relaunches = options.relaunches;
  supervision.log = options.log;
  return control::supervise(supervision);
}

void declare_run(CLI::App& command) {
  auto options = std::make_shared<RunOptions>();
  command.footer(explanation);
  command.add_option("-n,--ranks", options->ranks, "how many ranks work together")
      ->required()
      ->check(CLI::Range(1, 4096));
  command.add_option("--spares", options->spares, "how many more wait, to take the places of dead ones")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_option("--min-ranks", options->least, "with fewer ranks left, restart all from the newest checkpoint")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command.add_option("--hosts", options->hosts, "machines to run on: a,b,c (default: this one)")->delimiter(',');
  command.add_option("--launcher", options->launcher,
                     "how to start ranks, {} is their number: 'srun -n {}' (default: mpiexec)");
  command.add_option("--address", options->address, "name or address by which ranks reach this machine");
  command.add_option("--freeze", options->freeze_seconds, "seconds of silence after which a rank is considered dead")
      ->check(CLI::Range(2.0, 86400.0))
      ->capture_default_str();
  command.add_option("--hello", options->hello_seconds, "seconds in which all ranks must have started")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str();
  command.add_option("--relaunches", options->relaunches, "how often all ranks may be restarted")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command.add_option("--log", options->log, "file for JSON lines of what happened: deaths, recoveries, relaunches");
  command.add_option("words", options->words, "after --: train RECIPE.toml and its options")
      ->type_name("-- train RECIPE ...");
  command.callback([options, &command] {
    const std::vector<std::string> rest = command.remaining();
    throw CLI::RuntimeError(run_supervised(*options, std::ranges::find(rest, "--") != rest.end()));
  });
}

}  // namespace

extern const Verb run_verb{"run", "train on many ranks and survive the death of some: isobar run -n 4 -- train r.toml",
                           declare_run};

}  // namespace isobar::cli
