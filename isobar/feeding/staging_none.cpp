// none: samples are read from their original place, every time.
#include "isobar/feeding/staging.hpp"

namespace isobar::feeding {
namespace {

class None final : public Staging {
 public:
  Staged stage(const Spec&, std::shared_ptr<const datasets::Dataset> dataset, const StagingSetting& setting,
               comm::Comm&) const override {
    Staged staged;
    staged.dataset = setting.used(std::move(dataset));
    return staged;
  }
};

}  // namespace

extern const Row<Staging> staging_none;
const Row<Staging> staging_none{"none", "samples are read from where they are",
                                [](Args&) -> std::unique_ptr<Staging> { return std::make_unique<None>(); }};

}  // namespace isobar::feeding
