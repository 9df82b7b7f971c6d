// in_child: work in a process of its own. SimGrid has one engine for the life of a process, and what it holds is given
// back only by the end of the process; so every simulation is a child, and its result a text.
#pragma once

#include <functional>
#include <string>

namespace isobar::sim {

/// The text that `work` returns in a forked child: it sees all the caller has, and changes nothing of it. What it
/// throws as Error or UsageError is thrown here, as the same; want of memory and a death by signal are an Error. The
/// child ends with the thread that called, and has no other threads.
std::string in_child(const std::function<std::string()>& work);

}  // namespace isobar::sim
