// store(hold=float32, ahead=2, max_gigabytes=4): samples are read once and held in the memory of all ranks together;
// every epoch is shuffled over all of them. A rank holds at most max_gigabytes of each data set.
#include <array>

#include "isobar/comm/collectives.hpp"
#include "isobar/feeding/sample_store.hpp"
#include "isobar/feeding/staging.hpp"

namespace isobar::feeding {
namespace {

class Store final : public Staging {
 public:
  explicit Store(const StoreOptions& options) : options_(options) {}

  Staged stage(const Spec&, std::shared_ptr<const datasets::Dataset> dataset, const StagingSetting& setting,
               comm::Comm& comm) const override {
    StoreOptions options = options_;
    options.threads = setting.readers;
    options.keep_bad = setting.keep_bad;
    options.region = setting.region;
    // Ranks that share samples are in different stores.
    const std::unique_ptr<comm::Comm> peers = setting.peers.empty() ? nullptr : comm.among(setting.peers);
    comm::Comm& together = peers ? *peers : comm;
    const auto store = std::make_shared<const SampleStore>(setting.used(std::move(dataset)), options, together);
    const std::shared_ptr<comm::Comm> all = duplicate(comm);
    return {store,
            [store, all] {
              const StoreCounters mine = store->counters();
              std::array numbers{mine.samples_read, mine.bytes_held, mine.bytes_sent, mine.bytes_received};
              comm::sum_over_ranks(*all, numbers);
              return StagingCounters{{"samples_read", numbers[0]},
                                     {"bytes_held", numbers[1]},
                                     {"bytes_sent", numbers[2]},
                                     {"bytes_received", numbers[3]}};
            },
            false, together.size() == 1};
  }

 private:
  StoreOptions options_;
};

}  // namespace

extern const Row<Staging> staging_store;
const Row<Staging> staging_store{
    "store", "samples are read once and held in the memory of all ranks together",
    [](Args& args) -> std::unique_ptr<Staging> {
      StoreOptions options;
      const std::string hold = args.one_of("hold", "float32", {"float32", "float16", "bfloat16"});
      options.hold = hold == "float32" ? Hold::float32 : hold == "float16" ? Hold::float16 : Hold::bfloat16;
      const std::int64_t ahead = args.integer("ahead", 2);
      const double gigabytes = args.real("max_gigabytes", 4);
      args.require(ahead >= 1 && ahead <= 64, "ahead must be 1 to 64");
      args.require(gigabytes > 0 && gigabytes < 1e9, "max_gigabytes above 0 and below 1e9");
      options.ahead = ahead;
      options.max_bytes = static_cast<std::int64_t>(gigabytes * 1e9);
      return std::make_unique<Store>(options);
    }};

}  // namespace isobar::feeding
