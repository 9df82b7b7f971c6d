// What `isobar bench sinks` and `saves` measure: what records and checkpoints cost a run. Programs take turns in the
// same training: with all sinks of a run, with every step traced, with checkpoints, and with none of these.
#include <atomic>
#include <cstdio>

#include "isobar/base/clock.hpp"
#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/bench/contestant.hpp"
#include "isobar/bench/record_text.hpp"
#include "isobar/cli/bench_level.hpp"
#include "isobar/run/models.hpp"
#include "isobar/run/run_sinks.hpp"
#include "isobar/train/trainer.hpp"

namespace isobar::cli {
namespace {

// As in a run of 240 steps, of which 24 are traced by default, every series of steps has a traced one; longer runs have
// fewer. The run of a contestant never reaches its end.
constexpr int block = 10, endless = 100'000;

// What is compared with a run that only trains.
struct SinkKind {
  std::string name, text;
  double asked = 0;  // the aim: at most this many times as long; 0: none
};

struct Contest {
  std::string level, model, question;
  std::vector<SinkKind> kinds;  // the others are compared with the first
};

const SinkKind bare{"none", "a step of a run that records nothing"};
const Contest sinks_contest{
    "sinks",
    "cosmoflow(size=64)",
    "what recording costs a run",
    {bare, {"all", "with all sinks of a run", 1.01}, {"every", "with all sinks, every step traced"}}};
const Contest saves_contest{"saves",
                            "cosmoflow",
                            "what saving itself costs a run",
                            {bare, {"saves", "with a checkpoint every 10 steps", 1.02}}};

// Between two steps it answers the contest and waits for the next question. A step lasts from the last answer, or the
// end of the last step, until all other sinks have received this step.
class Gate final : public train::Sink {
 public:
  explicit Gate(std::string name) : name_(std::move(name)) {}
  train::SinkTurn turn() const override { return train::SinkTurn::last; }

  void start(const train::Start&) override {
    say("ready isobar with sinks: " + name_);
    await();
  }
  void step(const train::StepDone&) override {
    times_ += fmt::format("{}{:.9f}", times_.empty() ? "" : " ", now_seconds() - begin_);
    begin_ = now_seconds();
    if (--left_ > 0) return;
    say(times_);
    await();
  }

  std::atomic<bool> stop = false;

 private:
  static void say(const std::string& text) {
    fmt::print("{}\n", text);
    std::fflush(stdout);
  }
  void await() {
    char line[64];
    times_.clear();
    while (std::fgets(line, sizeof line, stdin)) {
      begin_ = now_seconds();
      if (std::sscanf(line, "step %d", &left_) == 1 && left_ > 0) return;
      fail("bench: '{}' is not 'step N'", line);
    }
    stop = true;
  }

  std::string name_, times_;
  double begin_ = 0;
  int left_ = 0;
};

Spec recipe_of(const SinkOptions& options, const std::filesystem::path& folder) {
  const graph::Graph graph = run::make_model(options.model, {}).graph(1);
  const auto sample = [&](const char* name) {
    const std::vector<std::int64_t>& extents = graph.value(graph.find(name)).shape.extents();
    return fmt::format("[{}]", fmt::join(extents.begin() + 1, extents.end(), ", "));
  };
  Spec recipe = parse_recipe(fmt::format("model = \"{}\"\nfolder = \"{}\"\n[data]\nbatch = 1\n"
                                         "train = \"noise(shape={}, targets={}, count={})\"\n[train]\nepochs = 1\n",
                                         options.model, folder.string(), sample("x"), sample("y"), endless),
                             "bench");
  const int traced = options.serve == "every" ? endless : options.serve == "all" ? endless / block : 0;
  apply_setting(recipe, fmt::format("report.trace_steps={}", traced));
  apply_setting(recipe, "report.trace_mb=100000");  // so that all of them are also written
  apply_setting(recipe, "checkpoint.every_minutes=0");
  // One in every series of steps: it begins, is written and ends within the contestant's own steps.
  if (options.serve == "saves") apply_setting(recipe, fmt::format("checkpoint.every_steps={}", block));
  return recipe;
}

}  // namespace

void add_sink_options(CLI::App& command, SinkOptions& options) {
  command
      .add_option("--sink-model", options.model,
                  "sinks and saves: the network, batch 1; default: cosmoflow(size=64) and cosmoflow")
      ->type_name("SPEC");
  command.add_option("--sinks", options.serve, "with --serve: which of a run's sinks listen")
      ->check(CLI::IsMember({"none", "all", "every", "saves"}));
}

void serve_sinks(const SinkOptions& options, const std::filesystem::path& scratch) {
  train::Job job = run::read_job(recipe_of(options, scratch / options.serve), "bench");
  job.tuned = false;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere(std::fopen("/dev/null", "w"), std::fclose);
  Gate gate(options.serve);
  run::RunSinks sinks;
  if (options.serve == "all" || options.serve == "every") sinks = run::make_sinks(job, {.screen = nowhere.get()});
  std::vector<train::Sink*> all = run::listeners(sinks);
  all.push_back(&gate);
  train::Trainer(std::move(job), all).run(&gate.stop);
}

namespace {

// Seconds of a step of every kind, in rounds of `block` steps.
bench::Rounds measured(const Contest& contest, const std::string& model, const BenchOptions& options, int rounds,
                       const std::filesystem::path& scratch) {
  std::vector<std::unique_ptr<bench::Contestant>> contestants;
  std::vector<bench::Runner> runners;
  for (const SinkKind& kind : contest.kinds) {
    contestants.push_back(std::make_unique<bench::Contestant>(
        std::vector<std::string>{"/proc/self/exe", "bench", "--serve", "--sinks", kind.name, "--sink-model", model,
                                 "--threads", std::to_string(options.threads), "--scratch", scratch / "runs"}));
    note(contestants.back()->name() + ": warm-up");
    contestants.back()->steps(3);
    runners.push_back({kind.text, [&contestant = *contestants.back()] {
                         double sum = 0;
                         for (const double step : contestant.steps(block)) sum += step;
                         return sum / block;
                       }});
  }
  note(contest.question);
  return bench::take_turns(runners, {.rounds = rounds, .least = rounds, .warm_up = 0});
}

void measure(const Contest& contest, const BenchOptions& options, RecordBook& book) {
  const ScratchFolder scratch(options.scratch);
  const std::string model = options.sinks.model.empty() ? contest.model : options.sinks.model;
  const int rounds = options.rounds_or(10);
  const bench::Rounds seconds = measured(contest, model, options, rounds, scratch.path());
  note("");
  const SinkKind& first = contest.kinds[0];
  const bench::Summary alone = bench::summarize(seconds[0]);
  fmt::print("{}, batch 1, {} threads, {} rounds of {} steps: {}, median [95 % interval]\n", model, options.threads,
             rounds, block, contest.question);
  fmt::print("  {:<44} {:>28} ms\n", first.text, bench::with_interval(alone, 1e3, 1));
  for (std::size_t c = 1; c < contest.kinds.size(); ++c) {
    const SinkKind& kind = contest.kinds[c];
    std::vector<double> ratios, speeds;
    for (std::size_t r = 0; r < seconds[c].size(); ++r) {
      ratios.push_back(seconds[c][r] / seconds[0][r]);
      speeds.push_back(1 / ratios.back());
    }
    fmt::print("  {:<44} {:>28} times that{}\n", kind.text, bench::with_interval(bench::summarize(ratios), 1, 4),
               kind.asked > 0 ? fmt::format(" (aim: at most {:.2f})", kind.asked) : "");
    bench::Record record{std::string(contest.level), model, kind.text};
    record.entries = {{kind.text, bench::summarize(seconds[c]), rounds}, {first.text, alone, rounds}};
    record.speedup = bench::summarize(speeds);
    record.asked.speed = kind.asked > 0 ? 1 / kind.asked : 0;
    book.add(std::move(record), false);
  }
  std::fflush(stdout);
}

}  // namespace

extern const BenchLevel sinks_level{
    "sinks", "what recording costs a run",
    [](const BenchOptions& options, RecordBook& book) { measure(sinks_contest, options, book); }};

extern const BenchLevel saves_level{
    "saves", "what checkpoints cost a run",
    [](const BenchOptions& options, RecordBook& book) { measure(saves_contest, options, book); }};

}  // namespace isobar::cli
