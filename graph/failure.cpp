#include "graph/failure.hpp"

#include <cstdint>
#include <exception>

#include "hyphos/result.hpp"

namespace hyphos::graph {

Failure Failure::current() {
  Failure failure;
  try {
    throw;
  } catch (const Exception& error) {
    failure.summary = error.what();
    failure.disconnected = error.error().code == Code::disconnected;
  } catch (const std::exception& error) {
    failure.summary = error.what();
  } catch (...) {
    failure.summary = "an exception that is not a std::exception";
  }
  if (const std::size_t end = failure.summary.find('\n'); end != std::string::npos) {
    failure.details = failure.summary.substr(end + 1);
    failure.summary.resize(end);
  }
  return failure;
}

void Failure::log(const std::string& who, log::OncePerSecond& limit) const {
  std::uint64_t more = 0;
  if (!limit.allow(more)) return;
  std::string text = who + " threw: " + summary + " (" + std::to_string(more) + " more before)";
  if (!details.empty()) text += '\n' + details;
  log::error("graph", text);
}

}  // namespace hyphos::graph
