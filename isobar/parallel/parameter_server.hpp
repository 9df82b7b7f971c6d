// ParameterServer: a rank that keeps some parameters of a model and their optimizer slots, for workers that send
// gradients or weights and read weights back. It has no data, no plan and no pace of its own: it receives from whoever
// comes next, and a rule says what becomes of it. A worker that dies is no longer waited for.
#pragma once

#include "isobar/comm/inbox.hpp"
#include "isobar/parallel/server_counts.hpp"
#include "isobar/parallel/server_rule.hpp"
#include "isobar/parallel/server_words.hpp"

namespace isobar::parallel {

class ParameterServer {
 public:
  /// All must outlive this.
  ParameterServer(ServedModel::Crew& crew, const ServerSetting& setting, ServerRule& rule);

  /// Serves its part of the model that the first worker brings. Returns when every worker has said that it is done, or
  /// has died.
  void serve();

 private:
  struct Worker {
    int rank = 0;  ///< in the world
    Question question{};
    comm::Ticket asked;
    bool working = true, waits_for_end = false;
    double waits_since = 0;                              ///< on the clock of the world: its last push had arrived
    std::unique_ptr<comm::GradientMemory> statistics{};  ///< of what is not trained, as it sent them last; null: never
    Answer answer{};
    std::unique_ptr<comm::GradientMemory> state{};  ///< that it is told, with
    ServerCounts load{};
    std::vector<WorkerCounts> told{};
    std::vector<comm::Ticket> under_way{};  ///< the parts of the answer
    std::vector<std::string> names{};       ///< of these:
    Chore receiving{Category::communication, {}}, answering{Category::communication, {}};
  };

  void begin();
  void listen(int worker);
  void meet(int worker);
  void receive(int worker, std::span<float> numbers);
  void receive_statistics(int worker);
  void take(int worker);
  void answer_all_that_may(int last);
  void leaves(int worker, bool died);
  void answer(int worker, std::span<const float> numbers = {});
  void answer_state(int worker);
  void end();

  comm::Comm& world_;
  const ServerSetting& setting_;
  ServerRule& rule_;
  ServedModel model_;
  std::vector<Worker> workers_;
  std::vector<WorkerCounts> counts_;
  ServerCounts load_;
  std::vector<int> waiting_;              ///< who have pushed and are not told yet
  std::unique_ptr<comm::Inbox> inbox_{};  ///< of what workers ask
  bool stop_ = false;
  double begun_at_ = 0;    ///< on the clock of the world
  double idle_since_ = 0;  ///< on now_seconds()
};

}  // namespace isobar::parallel
