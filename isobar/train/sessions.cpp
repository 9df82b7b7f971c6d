#include "isobar/train/sessions.hpp"

namespace isobar::train {

std::optional<End::Reason> run_sessions(comm::Crew& crew, const std::function<int(int available)>& usable,
                                        const std::function<End::Reason(comm::Comm& group)>& session) {
  while (const auto group = crew.muster(usable)) {
    try {
      return session(*group);
    } catch (const comm::MembersChanged&) {
      if (!crew.elastic()) throw;
    } catch (const NotInPlace& reason) {
      if (!crew.elastic()) throw;
      crew.give_up(reason.what());
    }
  }
  return std::nullopt;
}

}  // namespace isobar::train
