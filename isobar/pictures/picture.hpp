// Picture: a drawn file with its title and caption, as listed in pictures.json of its folder.
#pragma once

#include <filesystem>
#include <string>

namespace isobar::pictures {

struct Picture {
  std::string kind{}, title{}, caption{};
  std::filesystem::path file{};
};

}  // namespace isobar::pictures
