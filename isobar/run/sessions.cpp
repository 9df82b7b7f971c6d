#include "isobar/run/sessions.hpp"

namespace isobar::run {

std::optional<train::End::Reason> run_sessions(comm::Crew& crew, const std::function<int(int available)>& usable,
                                               const std::function<train::End::Reason(comm::Comm& group)>& session) {
  while (const auto group = crew.muster(usable)) {
    try {
      return session(*group);
    } catch (const comm::MembersChanged&) {
      if (!crew.elastic()) throw;
    } catch (const train::NotInPlace& reason) {
      if (!crew.elastic()) throw;
      crew.give_up(reason.what());
    }
  }
  return std::nullopt;
}

}  // namespace isobar::run
