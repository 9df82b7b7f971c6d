// Small disks of memory, for tests of disks that are full: they are mounted where nobody but the test sees them.
#pragma once

#include <cstdlib>
#include <string>

namespace isobar::tests {

/// What a command begins with that may mount disks of its own, as root or in a user namespace; "" where neither may.
inline const std::string& with_own_mounts() {
  static const std::string words = [] {
    for (const std::string way : {"unshare -m ", "unshare -Umc --keep-caps "})
      if (std::system((way + "sh -c 'mount -t tmpfs none \"$PWD\"' > /dev/null 2>&1").c_str()) == 0) return way;
    return std::string();
  }();
  return words;
}

}  // namespace isobar::tests
