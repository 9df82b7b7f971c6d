// The codecs that sums over ranks can carry.
#pragma once

#include <memory>
#include <vector>

#include "isobar/codec/codec.hpp"

namespace isobar::comm {

/// All codecs whose numbers are added on their way, by name.
inline const std::vector<const codec::Codec*>& added_codecs() {
  static const auto all = [] {
    std::vector<const codec::Codec*> list;
    for (const Row<codec::Codec>* row : codec::codecs()) {
      auto codec = make(codec::codecs(), Spec(row->name), "codec");
      if (codec->carriage() == codec::Carriage::added) list.push_back(codec.release());
    }
    return list;
  }();
  return all;
}

inline const codec::Codec& codec_named(const char* name) {
  for (const codec::Codec* codec : added_codecs())
    if (codec->describe() == name) return *codec;
  fail("no codec '{}' can be added", name);
}

}  // namespace isobar::comm
