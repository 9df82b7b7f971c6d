// files(to=..., scheme=all, quota=0, seed=1, max_gigabytes=...): a copy of the files near every node, each read from
// the shared file system once. With scheme=quota a rank sees `quota` files drawn with replacement, with scheme=shard
// its own part; a test set is always copied completely.
#include "isobar/comm/collectives.hpp"
#include "isobar/feeding/stage_files.hpp"
#include "isobar/feeding/staging.hpp"

namespace isobar::feeding {
namespace {

// Class numbers follow from the names a rank sees; a rank that lacks one would number them differently.
void expect_same_classes(const datasets::Dataset& dataset, comm::Comm& comm) {
  const std::string mine = join(dataset.classes(), "\n");
  for (const comm::Bytes& bytes : comm::all_gather(comm, std::as_bytes(std::span(mine))))
    if (std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()) != mine)
      fail(
          "staging: ranks see files of different classes, whose numbers would not agree; use scheme=all, or a larger "
          "quota");
}

class Files final : public Staging {
 public:
  explicit Files(StageOptions options) : options_(std::move(options)) {}

  Staged stage(const Spec& spec, std::shared_ptr<const datasets::Dataset> dataset, const StagingSetting& setting,
               comm::Comm& comm) const override {
    StageOptions options = options_;
    if (setting.evaluation) options.scheme = Scheme::all;
    if (setting.subset && options.scheme != Scheme::all)
      fail_usage(
          "data.validation: a share of the training set is chosen among all its samples, but with "
          "data.staging = 'files(scheme={})' each rank has files of its own: use scheme=all, 'store' or 'none', or "
          "name a data set of its own for validation",
          options.scheme == Scheme::shard ? "shard" : "quota");
    const StageResult result = stage_files(spec, options, comm);
    Staged staged;
    comm::guarded(comm, [&] {
      staged.dataset = datasets::make_dataset(result.staged);
      if (options.scheme == Scheme::all && staged.dataset->size() != dataset->size())
        fail("staging: {} has {} samples, its copy {} has {}", spec.str(), dataset->size(), result.staged.str(),
             staged.dataset->size());
      expect_same_classes(*staged.dataset, comm);
      staged.dataset = setting.used(staged.dataset);
    });
    staged.own_samples = options.scheme != Scheme::all && comm.size() > 1;
    staged.counters = [result] {
      return StagingCounters{{"set_bytes", result.set_bytes},         {"bytes_read", result.total.read},
                             {"bytes_sent", result.total.sent},       {"bytes_received", result.total.received},
                             {"bytes_written", result.total.written}, {"reused", result.reused ? 1 : 0}};
    };
    return staged;
  }

 private:
  StageOptions options_;
};

}  // namespace

extern const Row<Staging> staging_files;
const Row<Staging> staging_files{
    "files", "a copy of the files near every node, each read from the shared file system once",
    [](Args& args) -> std::unique_ptr<Staging> {
      StageOptions options;
      const std::string scheme = args.one_of("scheme", "all", {"all", "shard", "quota"});
      options.scheme = scheme == "all" ? Scheme::all : scheme == "shard" ? Scheme::shard : Scheme::quota;
      options.quota = args.integer("quota", 0);
      options.seed = args.integer("seed", 1);
      const double gigabytes = args.real("max_gigabytes", 1000);
      args.require((options.scheme == Scheme::quota) == (options.quota > 0),
                   "quota > 0, the files each rank draws, with scheme=quota and only there");
      args.require(gigabytes > 0 && gigabytes < 1e9, "max_gigabytes above 0 and below 1e9");
      options.max_bytes = static_cast<std::int64_t>(gigabytes * 1e9);
      options.to = args.text("to");
      args.require(!options.to.empty(), "to=..., a folder on a disk of the node or in its memory, as /dev/shm/stage");
      return std::make_unique<Files>(std::move(options));
    }};

}  // namespace isobar::feeding
