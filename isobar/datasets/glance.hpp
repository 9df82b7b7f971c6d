// Glance: what a file or folder shows at first sight, enough to recognise its format by content. A compressed file is
// decompressed for this; of a folder, the first files are seen, in the order of their paths.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace isobar::datasets {

struct Glance {
  std::filesystem::path path{};  ///< what the user named
  bool folder = false;           ///< whether that is a folder
  /// The first files below a folder, those that only describe data last; for a file, the path itself.
  std::vector<std::filesystem::path> inside{};
  std::vector<std::uint8_t> head{};  ///< the first bytes of inside[0], decompressed: at most 4096

  /// Whether the decompressed content has these bytes at an offset.
  bool begins(std::string_view magic, std::size_t at = 0) const;
};

/// Looks at a file or folder; one that does not exist or cannot be read is an Error.
Glance glance_at(const std::filesystem::path& path);

}  // namespace isobar::datasets
