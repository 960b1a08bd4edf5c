#include "gateway/ros_tcp/requests.hpp"

#include <utility>

#include "gateway/types/limits.hpp"

namespace hyphos::gateway::ros_tcp {
namespace {

Error client_gone() {
  return {Code::disconnected, "the client that serves it has disconnected", {}};
}

}  // namespace

std::optional<std::int64_t> Requests::add(Answer answer) {
  Answer oldest;
  std::optional<std::int64_t> id;
  {
    const MutexLock lock(mutex_);
    if (!ended_) {
      if (waiting_.size() >= most_) {
        oldest = std::move(waiting_.begin()->second);
        waiting_.erase(waiting_.begin());
      }
      id = next_++;
      waiting_.emplace(*id, std::move(answer));
    }
  }
  if (oldest) {
    oldest(Error{Code::timeout,
                 at_limit("the client that serves it has not replied, and", most_,
                          "later requests without a reply", "--max-calls-per-client"),
                 {}});
  }
  if (!id) answer(client_gone());
  return id;
}

Answer Requests::take(std::int64_t id) {
  const MutexLock lock(mutex_);
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return nullptr;
  Answer answer = std::move(found->second);
  waiting_.erase(found);
  return answer;
}

void Requests::end() {
  std::map<std::int64_t, Answer> waiting;
  {
    const MutexLock lock(mutex_);
    ended_ = true;
    waiting.swap(waiting_);
  }
  for (const auto& [id, answer] : waiting) answer(client_gone());
}

}  // namespace hyphos::gateway::ros_tcp
