// Picture: a file that was drawn and what is to be said about it, as pictures.json of its folder lists it.
#pragma once

#include <filesystem>
#include <string>

namespace isobar::pictures {

struct Picture {
  std::string kind{}, title{}, caption{};
  std::filesystem::path file{};
};

}  // namespace isobar::pictures
