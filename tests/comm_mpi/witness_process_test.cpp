#include "isobar/comm_mpi/witness_process.hpp"

#include <memory>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace isobar::comm_mpi {
namespace {

using Kind = WitnessWord::Kind;

// A witness in a thread, with sockets of this test as its ranks.
class WitnessProcess : public testing::Test {
 protected:
  WitnessProcess() {
    EXPECT_EQ(pipe(tell_), 0);
    listener_ = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    address_.sun_family = AF_UNIX;
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address_), sizeof address_.sun_family), 0);
    length_ = sizeof address_;
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address_), &length_), 0);
    EXPECT_EQ(listen(listener_, 10), 0);
    thread_ = std::thread([this] { bear_witness(listener_, tell_[1], *notes_); });
  }
  ~WitnessProcess() override {
    close(listener_);
    close(tell_[0]);
  }

  int connect_rank(int rank) {
    const int made = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    EXPECT_EQ(connect(made, reinterpret_cast<sockaddr*>(&address_), length_), 0);
    say(made, Kind::hello, rank);
    return made;
  }
  void say(int rank_socket, Kind kind, int rank = 0) {
    WitnessWord word;
    word.kind = kind;
    word.rank = word.slot = rank;
    ASSERT_EQ(send(rank_socket, &word, sizeof word, 0), static_cast<ssize_t>(sizeof word));
  }
  // Waits for what the witness tells a rank.
  std::string hear(int rank_socket) {
    WitnessWord word;
    EXPECT_EQ(recv(rank_socket, &word, sizeof word, 0), static_cast<ssize_t>(sizeof word));
    EXPECT_EQ(word.kind, Kind::death);
    return word.text;
  }
  // All that the user has read once the witness has ended.
  std::string told() {
    thread_.join();
    close(tell_[1]);
    std::string text;
    for (char part[1000];;) {
      const ssize_t got = read(tell_[0], part, sizeof part);
      if (got <= 0) return text;
      text.append(part, static_cast<std::size_t>(got));
    }
  }

  std::unique_ptr<Notes> notes_ = std::make_unique<Notes>();
  int tell_[2], listener_ = -1;
  sockaddr_un address_{};
  socklen_t length_ = 0;
  std::thread thread_;
};

TEST_F(WitnessProcess, SaysNothingWhenAllSayGoodbyeAndGoesWithTheLast) {
  const int a = connect_rank(0), b = connect_rank(1);
  for (const int each : {a, b}) say(each, Kind::goodbye), close(each);
  EXPECT_EQ(told(), "");
}

TEST_F(WitnessProcess, TellsTheFirstDeathToTheUserAndTheOthers) {
  std::snprintf(notes_->text[1], Notes::length, "step 12:\nworks");
  const int a = connect_rank(0), b = connect_rank(1), c = connect_rank(2);
  close(b);
  const std::string message = hear(a);
  EXPECT_TRUE(message.starts_with("[rank 1] died (process " + std::to_string(getpid()))) << message;
  EXPECT_TRUE(message.ends_with("; its last note: step 12: works")) << message;
  EXPECT_EQ(hear(c), message);
  close(c);  // because of the first
  close(a);
  EXPECT_EQ(told(), "isobar: " + message + "\n");
}

TEST_F(WitnessProcess, SaysNothingWhenTheReasonIsKnown) {
  const int a = connect_rank(0), b = connect_rank(1);
  say(a, Kind::failing);
  close(a);
  close(b);  // sockets are handled in the order in which something happened to them
  EXPECT_EQ(told(), "");
}

TEST_F(WitnessProcess, IgnoresWhoDoesNotIntroduceItselfAndWhatIsNoWord) {
  const int a = connect_rank(0);
  const int stranger = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  ASSERT_EQ(connect(stranger, reinterpret_cast<sockaddr*>(&address_), length_), 0);
  ASSERT_EQ(send(stranger, "nonsense", 8, 0), 8);
  close(stranger);
  say(a, Kind::goodbye);
  close(a);
  EXPECT_EQ(told(), "");
}

}  // namespace
}  // namespace isobar::comm_mpi
