#include "isobar/parallel/pair_words.hpp"

namespace isobar::parallel {
namespace {

constexpr double a_moment = 0.001;

template <class T>
std::span<std::byte> bytes_of(T& object) {
  return std::as_writable_bytes(std::span(&object, 1));
}

}  // namespace

PairWords::PairWords(comm::Comm& world, const std::vector<int>& senders) : world_(world), lost_(world.size()) {
  lines_.resize(senders.size());
  for (std::size_t i = 0; i < senders.size(); ++i) {
    Line& line = lines_[i];
    line.from = senders[i];
    reaches(line.from, [&] { line.open = world_.start_receive(line.from, word_tag, bytes_of(line.word)); });
  }
}

std::optional<PairWords::Heard> PairWords::next() {
  std::erase_if(told_, [&](Told& told) {
    bool arrived = false;
    return !reaches(told.to, [&] { arrived = told.under_way.done(); }) || arrived;
  });
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    Line& line = lines_[next_++ % lines_.size()];
    bool heard = false;
    reaches(line.from, [&] { heard = line.open.done(); });
    if (!heard) continue;
    const Heard word{line.from, line.word};
    reaches(line.from, [&] { line.open = world_.start_receive(line.from, word_tag, bytes_of(line.word)); });
    return word;
  }
  return {};
}

void PairWords::pause() {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    Line& line = lines_[(next_ + i) % lines_.size()];
    if (reaches(line.from, [&] { line.open.wait_for(a_moment); })) return;
  }
  world_.check();
}

void PairWords::tell(int to, PairWord word) {
  Told& told = told_.emplace_back(Told{to, word});
  reaches(to, [&] { told.under_way = world_.start_send(to, word_tag, bytes_of(told.word)); });
}

void PairWords::close() {
  for (Told& told : told_) reaches(told.to, [&] { told.under_way.wait(); });
  told_.clear();
  lines_.clear();
}

}  // namespace isobar::parallel
