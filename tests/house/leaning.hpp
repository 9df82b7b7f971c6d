// A header that leans on its includer: the check of lone headers must not compile it.
#pragma once

inline std::vector<int> leaning() { return {}; }
