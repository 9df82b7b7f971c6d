# The platform files of isobar/sim/platforms as C++ text, so that isobar-sim knows them by name wherever it is installed.
file(GLOB platform_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/isobar/sim/platforms/*.toml)
set(platform_rows "")
foreach(file ${platform_files})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND platform_rows "    {\"${name}\", R\"toml(${text})toml\"},\n")
endforeach()
set(platform_texts ${CMAKE_BINARY_DIR}/generated/platform_texts.cpp)
file(CONFIGURE OUTPUT ${platform_texts} @ONLY CONTENT
"// Made by cmake/platforms.cmake.
#include \"isobar/sim/platform_texts.hpp\"

namespace isobar::sim {

std::span<const PlatformText> platform_texts() {
  static constexpr PlatformText all[] = {
@platform_rows@  };
  return all;
}

}  // namespace isobar::sim
")
