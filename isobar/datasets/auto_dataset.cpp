// auto(path=..., ...): the data set for the format of a file or folder, recognised by content. All other arguments are
// those of the kind that is found.
#include "isobar/datasets/format.hpp"

namespace isobar::datasets {

extern const DatasetRow automatic;
const DatasetRow automatic{"auto", "a file or folder of any known format, recognised by its content",
                           [](Args& args) -> std::unique_ptr<Dataset> {
                             const Glance glance = glance_at(args.text("path"));
                             return make_dataset(Spec(std::string(recognise(glance).name), args.hand_on()));
                           }};

}  // namespace isobar::datasets
