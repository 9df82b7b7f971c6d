// auto(path=..., ...): the data set for the format of a file or folder, recognised by content. All other arguments are
// those of the kind that is found.
#include "isobar/datasets/format.hpp"

namespace isobar::datasets {

extern const DatasetRow automatic;
const DatasetRow automatic{"auto", "a file or folder of any known format, recognised by its content",
                           [](Args& args, Survey& survey) -> std::unique_ptr<Dataset> {
                             const std::string path = args.text("path");
                             const FileFacts* const known = survey.find("format", path);
                             const std::string name(known ? known->text : recognise(glance_at(path)).name);
                             if (!known) survey.note("format", path, {.text = name});
                             return make_dataset(Spec(name, args.hand_on()), survey);
                           }};

}  // namespace isobar::datasets
