// A header that depends on its includer: the check that compiles headers alone must fail on it.
#pragma once

inline std::vector<int> leaning() { return {}; }
