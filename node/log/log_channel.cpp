#include "node/log/log_channel.hpp"

#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <system_error>

#include "base/clock_core.hpp"
#include "hyphos/inspect.hpp"
#include "transport/shm/shm.hpp"

namespace hyphos {
namespace {

// A subscriber finds a new channel within milliseconds, on a busy machine within tens of them.
constexpr std::chrono::milliseconds kFirstLinesWait{100};
// A subscriber on this machine that was not found by then stalls. It is visible in shared memory.
constexpr std::chrono::seconds kLongestFirstWait{5};
constexpr std::chrono::milliseconds kBetweenLooks{10};
constexpr std::size_t kMaxPlaces = 1024;

Policy log_policy() {
  Policy policy;  // best effort: a subscriber that does not keep up loses lines and counts them
  policy.overflow = Overflow::drop_oldest;
  policy.depth = 256;
  policy.priority = Priority::low;
  return policy;
}

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

LogChannel::LogChannel(graph::Graph& graph, std::shared_ptr<detail::ClockCore> clock,
                       Options options)
    : graph_(graph), clock_(std::move(clock)), options_(std::move(options)) {}

void LogChannel::start() {
  if (options_.lockstep) return;
  listening_ = true;
  log::listen(this);
}

std::int64_t LogChannel::now_ns() const { return clock_->now().ns; }

std::shared_ptr<Logger::Impl> LogChannel::add(const std::string& node, std::string channel) {
  auto made = std::make_shared<Logger::Impl>(weak_from_this(), node, std::move(channel));
  {
    const MutexLock lock(mutex_);
    nodes_.push_back(made);
    had_node_ = true;
  }
  changed_.notify_all();  // lines of Hyphos may have waited for a node
  return made;
}

void LogChannel::remove(const std::shared_ptr<Logger::Impl>& node) {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(node->removed, true)) return;
    std::erase(nodes_, node);
    if (thread_.joinable()) {
      waiting_.push_back({node, std::nullopt});  // beyond the bound, but only one per node
      changed_.notify_all();
      return;
    }
  }
  end(*node);
}

void LogChannel::end(Logger::Impl& node) {
  const MutexLock lock(send_mutex_);
  node.ended = true;
  node.publisher.reset();
}

void LogChannel::begin() {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // no thread available: the lines are on stderr
    waiting_.clear();
  }
}

bool LogChannel::enqueue(Item item) {
  {
    const MutexLock lock(mutex_);
    if (stopping_ || (item.node && item.node->removed)) return false;
    if (waiting_.size() >= kMaxWaiting) {
      ++lost_;
      return false;
    }
    waiting_.push_back(std::move(item));
    if (!thread_.joinable()) begin();
  }
  changed_.notify_all();
  return true;
}

void LogChannel::publish(const std::shared_ptr<Logger::Impl>& node, log::Line line) {
  if (!options_.lockstep) {
    enqueue({node, std::move(line)});
    return;
  }
  {
    const MutexLock lock(mutex_);
    if (stopping_ || node->removed) return;
  }
  const MutexLock lock(send_mutex_);
  send(*node, line);
}

void LogChannel::take(log::Level level, std::string_view room, std::string_view text) {
  log::Line line;
  line.stamp_ns = now_ns();
  line.level = level;
  line.name = options_.process + "." + std::string(room);
  line.text = log::bounded_text(text, log::kMaxText);
  enqueue({nullptr, std::move(line)});
}

void LogChannel::run() {
  ::pthread_setname_np(::pthread_self(), "hyphos-log");
  const log::Unheard quiet;  // errors during publishing go only to stderr
  UniqueLock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&]() HYPHOS_REQUIRES(mutex_) {
      return stopping_ || (!waiting_.empty() && had_node_);
    });
    if (waiting_.empty()) return;
    Item item = std::move(waiting_.front());
    waiting_.pop_front();
    if (!item.node && !nodes_.empty()) item.node = nodes_.front();
    const std::uint64_t lost = std::exchange(lost_, 0);
    lock.unlock();
    if (item.node && lost > 0) {
      log::Line note;
      note.stamp_ns = now_ns();
      note.level = log::Level::warn;
      note.name = options_.process + ".log";
      note.text = std::to_string(lost) +
                  " lines of this process are missing here: they were written "
                  "faster than they could be published";
      handle({item.node, std::move(note)});
    }
    handle(item);
    item = {};
    lock.lock();
  }
}

void LogChannel::handle(const Item& item) {
  if (!item.node) return;  // a line of Hyphos, without a node to publish it
  if (!item.line) return end(*item.node);
  const MutexLock lock(send_mutex_);
  send(*item.node, *item.line);
}

void LogChannel::send(Logger::Impl& node, const log::Line& line) {
  if (refused_ || node.ended) return;
  if (!node.publisher) {
    TypeSupport type;
    type.id = log::line_type();
    auto made = graph_.publisher(node.channel, type, log_policy(), Scope::network, node.node);
    if (!made) {
      refused_ = made.error().code != Code::disconnected;
      if (refused_) {
        log::write_stderr(log::Level::warn, "log",
                          "lines are written only to stderr: " + made.error().to_string());
      }
      return;
    }
    node.publisher = std::move(*made);
    if (!std::exchange(opened_, true) && !options_.lockstep && !options_.alone) {
      await_subscribers(node);
    }
  }
  RawPublisher(node.publisher).publish(log::encode(line));
}

void LogChannel::await_subscribers(const Logger::Impl& node) {
  const auto end = std::chrono::steady_clock::now() + kLongestFirstWait;
  auto wait = kFirstLinesWait;
  do {
    UniqueLock lock(mutex_);
    const auto stops = [&]() HYPHOS_REQUIRES(mutex_) { return stopping_; };
    if (changed_.wait_for(lock, std::exchange(wait, kBetweenLooks), stops)) return;
  } while (node.publisher->listeners() < subscribers(node.channel) &&
           std::chrono::steady_clock::now() < end);
}

// The listeners of the channel, as soon as all its subscribers on this machine are connected.
std::size_t LogChannel::subscribers(const std::string& channel) const {
  const auto* shm = dynamic_cast<transport::ShmTransport*>(graph_.transport("shm"));
  const auto processes = inspect(options_.domain);
  if (shm == nullptr || !processes) return 0;
  std::size_t all = 0;
  for (const ProcessInfo& process : *processes) {
    const auto found =
        std::count_if(process.endpoints.begin(), process.endpoints.end(), [&](const auto& one) {
          return !one.is_publisher && one.channel == channel &&
                 one.type_hash == log::line_type().hash;
        });
    const bool here = process.participant == shm->participant_id();
    all += static_cast<std::size_t>(here ? found : std::min<std::ptrdiff_t>(found, 1));
  }
  return all;
}

void LogChannel::stop() {
  if (std::exchange(listening_, false)) log::unlisten(this);
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    thread.swap(thread_);
  }
  changed_.notify_all();
  if (thread.joinable()) thread.join();
  std::vector<std::shared_ptr<Logger::Impl>> nodes;
  {
    const MutexLock lock(mutex_);
    nodes.swap(nodes_);
  }
  for (const auto& node : nodes) end(*node);
}

bool Logger::Impl::allow(const char* file, unsigned line, std::int64_t period_ns,
                         std::uint64_t& left_out) {
  const std::int64_t now = monotonic_now().ns;
  const MutexLock lock(places_mutex_);
  if (places_.size() >= kMaxPlaces && !places_.contains({file, line})) return true;
  Place& place = places_[{file, line}];
  if (now < place.next_ns) {
    ++place.left_out;
    return false;
  }
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  place.next_ns = period_ns > kEnd - now ? kEnd : now + period_ns;
  left_out = std::exchange(place.left_out, 0);
  return true;
}

Logger Logger::every(Duration period, const char* file, unsigned line) const {
  Logger made = *this;
  made.silent_ = silent_ || !impl_->allow(file, line, period.ns, made.left_out_);
  return made;
}

Logger Logger::once(const char* file, unsigned line) const {
  return every(Duration{std::numeric_limits<std::int64_t>::max()}, file, line);
}

bool Logger::enabled(LogLevel level) const {
  if (silent_) return false;
  const std::uint8_t own = impl_->level.load(std::memory_order_relaxed);
  const auto wanted = static_cast<std::uint8_t>(level);
  return own == Impl::kOfProcess ? wanted >= static_cast<std::uint8_t>(log::level())
                                 : wanted >= own;
}

void Logger::set_level(std::optional<LogLevel> level) const {
  impl_->level.store(level ? static_cast<std::uint8_t>(*level) : Impl::kOfProcess,
                     std::memory_order_relaxed);
}

void Logger::write_line(LogLevel level, std::string_view text, std::string_view name,
                        std::string_view file, std::string_view function, unsigned line,
                        bool to_stderr) const {
  if (!enabled(level)) return;
  log::Line made;
  made.level = static_cast<log::Level>(level);
  made.name = log::bounded_text(name.empty() ? impl_->node : name, log::kMaxName);
  made.text = log::bounded_text(text, log::kMaxText);
  if (to_stderr) log::write_stderr(made.level, made.name, made.text);
  const auto to = impl_->to.lock();
  if (!to) return;
  made.stamp_ns = to->now_ns();
  made.file = log::bounded_text(file_name(file), log::kMaxName);
  made.function = log::bounded_text(function, log::kMaxName);
  made.line = line;
  to->publish(impl_, std::move(made));
}

namespace {

template <typename T>
void append(std::string& text, T number) {
  char digits[64];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

void detail::append_number(std::string& text, long long number) { append(text, number); }
void detail::append_number(std::string& text, unsigned long long number) { append(text, number); }
void detail::append_number(std::string& text, float number) { append(text, number); }
void detail::append_number(std::string& text, double number) { append(text, number); }
void detail::append_number(std::string& text, long double number) { append(text, number); }

}  // namespace hyphos
