#include <vector>

#include "handles.hpp"

using namespace hyphos;
using namespace hyphos::c;

namespace {

Result<RuntimeOptions> read_options(const hyphos_node_options* given) {
  const auto read = read_struct(given, "hyphos_node_options");
  if (!read) return read.error();
  const hyphos_node_options& from = read.value();
  RuntimeOptions options;
  options.plan_file = text_or(from.plan_file, "");
  options.process = text_or(from.process, "main");
  options.domain = text_or(from.domain, "");
  options.threads = from.threads;
  options.offline = from.offline != 0;
  if (from.override_count > 0 && from.overrides == nullptr) return is_null("options.overrides");
  for (std::uint64_t i = 0; i < from.override_count; ++i) {
    if (from.overrides[i] == nullptr) return is_null("an entry of options.overrides");
    options.overrides.emplace_back(from.overrides[i]);
  }
  return options;
}

Result<void> finish_open(Result<Node> opened, hyphos_node** node) {
  if (!opened) return opened.error();
  *node = new hyphos_node{std::make_shared<NodeState>(std::move(*opened))};
  return success();
}

}  // namespace

extern "C" {

hyphos_code hyphos_node_open(const char* name, const hyphos_node_options* options,
                             hyphos_node** node, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (name == nullptr) return is_null("name");
    if (node == nullptr) return is_null("node");
    auto read = read_options(options);
    if (!read) return read.error();
    return finish_open(Node::open(name, std::move(*read)), node);
  });
}

hyphos_code hyphos_node_open_args(const char* name, int32_t argc, char* const* argv,
                                  hyphos_node** node, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (name == nullptr) return is_null("name");
    if (node == nullptr) return is_null("node");
    if (argc > 0 && argv == nullptr) return is_null("argv");
    std::vector<std::string> words;
    for (int32_t i = 0; i < argc; ++i) {
      if (argv[i] == nullptr) return is_null("an entry of argv");
      words.emplace_back(argv[i]);
    }
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return finish_open(Node::open(name, static_cast<int>(words.size()), pointers.data()), node);
  });
}

hyphos_code hyphos_node_beside(hyphos_node* node, const char* name, hyphos_node** other,
                               hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (name == nullptr) return is_null("name");
    if (other == nullptr) return is_null("other");
    return finish_open(node->state->node.runtime().node(name), other);
  });
}

void hyphos_node_close(hyphos_node* node) {
  if (node == nullptr) return;
  quietly([&] {
    const std::unique_ptr<hyphos_node> ended(node);
    // Ends callbacks first, because they may be inside calls. Closing the node also ends the waits
    // of those calls.
    ended->state->node.close();
    ended->state->pump->close();
    const Time deadline = monotonic_now() + Duration::from_seconds(1);
    if (!ended->state->gate.close_until(deadline.ns)) {
      ended->state->node.log().warn(
          "the node is closed, but a call of another thread has not returned after 1 s. End the "
          "calls of an endpoint before you close its node");
    }
  });
}

namespace {

Result<Where> read_where(hyphos_where where) {
  if (where >= HYPHOS_NOWHERE && where <= HYPHOS_BOTH) return static_cast<Where>(where);
  return Error{Code::invalid_config,
               "where must be one of HYPHOS_NOWHERE, HYPHOS_INSIDE, HYPHOS_OUTSIDE, HYPHOS_BOTH",
               ""};
}

}  // namespace

hyphos_code hyphos_set_channel_open(hyphos_node* node, const char* channel, int32_t open,
                                    hyphos_where where, const char* peer, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (channel == nullptr) return is_null("channel");
    const auto places = read_where(where);
    if (!places) return places.error();
    Runtime runtime = node->state->node.runtime();
    if (peer == nullptr) return runtime.set_channel_open(channel, open != 0, *places);
    if (where == HYPHOS_OUTSIDE) return runtime.set_channel_open(channel, peer, open != 0);
    return Error{Code::invalid_config, "where must be HYPHOS_OUTSIDE with a peer", channel};
  });
}

hyphos_code hyphos_open_channel_only(hyphos_node* node, const char* channel, hyphos_where where,
                                     hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (channel == nullptr) return is_null("channel");
    const auto places = read_where(where);
    if (!places) return places.error();
    return node->state->node.runtime().open_channel_only(channel, *places);
  });
}

hyphos_code hyphos_channel_open(const hyphos_node* node, const char* channel, hyphos_where* where,
                                hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (channel == nullptr) return is_null("channel");
    if (where == nullptr) return is_null("where");
    const auto places = node->state->node.runtime().channel_open(channel);
    if (!places) return places.error();
    *where = static_cast<hyphos_where>(*places);
    return success();
  });
}

hyphos_code hyphos_node_ready(hyphos_node* node, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    node->state->node.runtime().ready();
    return success();
  });
}

int64_t hyphos_now(const hyphos_node* node) {
  std::int64_t now = 0;
  if (node != nullptr) quietly([&] { now = node->state->node.clock().now().ns; });
  return now;
}

int64_t hyphos_monotonic_now(void) { return monotonic_now().ns; }

hyphos_code hyphos_log(hyphos_node* node, int32_t level, const char* text, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (text == nullptr) return is_null("text");
    if (level < HYPHOS_DEBUG || level > HYPHOS_FATAL) {
      return Error{Code::invalid_config, "level must be one of HYPHOS_DEBUG to HYPHOS_FATAL", ""};
    }
    const Logger log = node->state->node.log();
    const auto of = static_cast<LogLevel>(level);
    if (log.enabled(of)) log.write_line(of, text);
    return success();
  });
}

hyphos_code hyphos_announce_types(hyphos_node* node, const void* descriptors, size_t size,
                                  hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (descriptors == nullptr && size > 0) return is_null("descriptors");
    const std::string_view set(static_cast<const char*>(descriptors), size);
    return node->state->node.runtime().announce_types(set);
  });
}

hyphos_code hyphos_poll(hyphos_node* node, int64_t timeout_ns, uint32_t most, uint32_t* ran,
                        hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    // Holds only the pump, so a polling thread does not keep the graph of the process alive.
    const std::shared_ptr<Pump> pump = node->state->pump;
    const auto done = pump->poll(timeout_ns, most);
    if (!done) return done.error();
    if (ran != nullptr) *ran = done.value();
    return success();
  });
}

void hyphos_wake(hyphos_node* node) {
  if (node != nullptr) quietly([&] { node->state->pump->wake(); });
}

int32_t hyphos_poll_fd(hyphos_node* node) {
  int32_t descriptor = -1;
  if (node != nullptr) quietly([&] { descriptor = node->state->pump->descriptor(); });
  return descriptor;
}

}  // extern "C"
