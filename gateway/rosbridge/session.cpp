#include "gateway/rosbridge/session.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <utility>

#include "gateway/rosbridge/bson.hpp"
#include "gateway/rosbridge/cbor.hpp"
#include "gateway/rosbridge/png.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

// Maximum growth from CBOR or BSON to JSON that a legitimate message can have.
constexpr std::size_t kCborGrowth = 4;

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest digest_of(std::string_view text) {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

}  // namespace

// Digests have equal lengths, so that comparison time does not reveal the length of a token.
const Token* find_token(std::span<const Token> tokens, std::string_view shown) {
  const Digest digest = digest_of(shown);
  const Token* found = nullptr;
  for (const Token& one : tokens) {
    if (CRYPTO_memcmp(digest_of(one.secret).data(), digest.data(), digest.size()) == 0) {
      found = &one;
    }
  }
  return found;
}

const Session::Entry Session::kEntries[] = {
    {"publish", &Session::publish},
    {"advertise", &Session::advertise},
    {"unadvertise", &Session::unadvertise},
    {"subscribe", &Session::subscribe},
    {"unsubscribe", &Session::unsubscribe},
    {"call_service", &Session::call_service},
    {"service_response", &Session::service_response},
    {"advertise_service", &Session::advertise_service},
    {"unadvertise_service", &Session::unadvertise_service},
    {"send_action_goal", &Session::send_action_goal},
    {"cancel_action_goal", &Session::cancel_action_goal},
    {"advertise_action", &Session::advertise_action},
    {"unadvertise_action", &Session::unadvertise_action},
    {"action_feedback", &Session::action_feedback},
    {"action_result", &Session::action_result},
    {"set_level", &Session::set_level},
    {"auth", &Session::auth},
};

Session::Session(GraphFacade& facade, NodeParams& params, Client client, const Options& options,
                 Sink& sink, bool authorized)
    : context_(facade, std::move(client), options, sink),
      gate_(std::make_shared<ContextGate>(context_)),
      authorized_(authorized),
      fragments_(options.max_message),
      publications_(context_),
      calls_(context_, gate_, params),
      served_services_(context_, gate_),
      goals_(context_, gate_),
      served_actions_(context_, gate_) {}

Session::~Session() {
  gate_->close();
  served_services_.end();
  goals_.end();
  served_actions_.end();
}

void Session::text(std::string_view json, const DecodedText* decoded) {
  handle(json, Origin::client, decoded);
}

void Session::binary(std::span<const std::byte> bytes, const DecodedText* decoded) {
  if (!is_cbor_map(bytes)) {
    return text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, decoded);
  }
  auto json = cbor_to_json(bytes, context_.options.max_message * kCborGrowth);
  if (!json) return context_.refuse({}, json.error());
  json->reserve(json->size() + net::kPadding);
  text(*json);
}

void Session::document(std::span<const std::byte> bytes) {
  auto json = bson_to_json(bytes, context_.options.max_message * kCborGrowth);
  if (!json) return context_.refuse({}, json.error());
  json->reserve(json->size() + net::kPadding);
  text(*json);
}

void Session::handle(std::string_view json, Origin origin, const DecodedText* decoded) {
  ParsedRequest parsed = parser_.parse(json, decoded);
  Request& request = parsed.request;
  if (parsed.error) return context_.refuse(request, *parsed.error);
  if (!authorized_ && request.op != "auth") {
    return context_.refuse(
        request, {Code::permission, R"(send a token first: {"op":"auth","token":…})", ""});
  }
  if (request.op == "fragment") return fragment(std::move(request), origin);
  if (request.op == "png") return png(std::move(request), origin);
  const auto* const at = std::ranges::find(kEntries, request.op, &Entry::op);
  if (at == std::end(kEntries)) {
    std::string known;
    for (const Entry& entry : kEntries) known += std::string(entry.op) + ", ";
    return context_.refuse(
        request,
        {Code::unsupported, "unknown operation. Known are: " + known + "fragment, png", ""});
  }
  if (const auto done = (this->*at->run)(request); !done) context_.refuse(request, done.error());
}

std::optional<std::string> Session::joined(Request&& piece) {
  Request told;
  told.op = piece.op;
  told.id = piece.id;
  piece.id = piece.id.empty() ? "" : piece.op + " " + piece.id;  // each kind has its own ids
  auto whole = fragments_.take(std::move(piece));
  for (std::size_t dropped = fragments_.dropped(); dropped > 0; --dropped) {
    context_.count("fragments", "a fragmented message was never completed");
  }
  if (whole) return *std::move(whole);
  context_.refuse(told, whole.error());
  return std::nullopt;
}

void Session::fragment(Request&& request, Origin origin) {
  if (origin != Origin::client) {
    return context_.refuse(
        request,
        {Code::corrupt,
         origin == Origin::png ? "a fragment inside a png" : "a fragment inside fragments", ""});
  }
  if (const auto whole = joined(std::move(request))) handle(*whole, Origin::fragments);
}

// The image may be inside fragments, as the original rosbridge sends it, or may itself be split, as
// the text of the protocol describes.
void Session::png(Request&& request, Origin origin) {
  Request told;
  told.op = request.op;
  told.id = request.id;
  if (origin == Origin::png) {
    return context_.refuse(told, {Code::corrupt, "a png inside a png", ""});
  }
  std::optional<std::string> image = std::move(request.data);
  if (request.total > 1 || request.num > 0) {
    request.data = *std::move(image);
    image = joined(std::move(request));
  }
  if (!image) return;
  auto json = json_of_png(*image, context_.options.max_message);
  if (!json) return context_.refuse(told, json.error());
  image.reset();
  json->reserve(json->size() + net::kPadding);
  handle(*json, Origin::png);
}

Result<void> Session::subscribe(const Request& request) {
  if (auto given = required(request.topic, "topic"); !given) return given;
  auto wish = wish_of(request);
  if (!wish) return wish.error();
  if (wish->compression == Compression::none && context_.sink.prefers_cbor()) {
    wish->compression = Compression::cbor;
  }
  const auto at = outbound_topics_.find(request.topic);
  if (at != outbound_topics_.end()) return at->second->subscribe(request.id, request.type, *wish);
  const std::size_t most = context_.options.limits.client_topics;
  if (outbound_topics_.size() >= most) {
    return Error{Code::overloaded,
                 at_limit("this client", most, "subscribed topics", "--max-topics-per-client"),
                 request.topic};
  }
  auto outbound_topic =
      std::make_unique<OutboundTopic>(context_, request.topic, next_output_class_++);
  if (auto done = outbound_topic->subscribe(request.id, request.type, *wish); !done) return done;
  outbound_topics_.emplace(request.topic, std::move(outbound_topic));
  return success();
}

Result<void> Session::unsubscribe(const Request& request) {
  if (auto given = required(request.topic, "topic"); !given) return given;
  const auto at = outbound_topics_.find(request.topic);
  if (at == outbound_topics_.end()) {
    context_.status(Level::warning,
                    "unsubscribe: the client has no subscription to " + request.topic, request.id);
    return success();
  }
  auto done = at->second->unsubscribe(request.id);
  if (at->second->empty()) outbound_topics_.erase(at);
  return done;
}

Result<void> Session::set_level(const Request& request) {
  constexpr std::pair<std::string_view, Level> kLevels[] = {{"none", Level::none},
                                                            {"error", Level::error},
                                                            {"warning", Level::warning},
                                                            {"info", Level::info}};
  const auto* const at =
      std::ranges::find(kLevels, request.level, &std::pair<std::string_view, Level>::first);
  if (at == std::end(kLevels)) {
    return Error{Code::corrupt, "'level' must be none, error, warning or info", ""};
  }
  context_.level = at->second;
  return success();
}

Result<void> Session::auth(const Request& request) {
  if (request.has_mac) {
    return Error{Code::unsupported,
                 "rosauth MACs are not supported. Send a token: "
                 R"({"op":"auth","token":…})",
                 ""};
  }
  if (!context_.options.tokens.empty()) {
    const Token* const token = find_token(context_.options.tokens, request.token);
    if (token == nullptr) {
      context_.refuse(
          request, {Code::permission, "unknown token. Use a token from the file of --tokens", ""});
      context_.sink.close(net::CloseCode::policy, "unknown token");
      return success();
    }
    if (authorized_ && token->rules != context_.client.token) {
      return Error{Code::already_exists,
                   "a token with other rules was sent before. Reconnect to use this one", ""};
    }
    // no activity of the client has begun yet
    if (!authorized_) context_.client.token = token->rules;
    authorized_ = true;
  }
  context_.status(Level::info, "auth: welcome", request.id);
  return success();
}

void Session::tick() {
  for (const auto& [topic, outbound_topic] : outbound_topics_) outbound_topic->tick();
}

}  // namespace hyphos::gateway::rosbridge
