#include "gateway/net/handshake.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <charconv>

#include "gateway/convert/base64.hpp"

namespace hyphos::gateway::net {
namespace {

namespace http = boost::beast::http;
using Request = http::request_parser<http::empty_body>;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

std::string accept_key(std::string_view key) {
  const std::string both = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(both.data()), both.size(), digest.data());
  std::string out;
  Base64Writer writer(out);
  writer.write(std::as_bytes(std::span(digest)));
  writer.end();
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string token_of(const Request::value_type& request) {
  std::string_view target = view(request.target());
  target.remove_prefix(std::min(target.find('?'), target.size()));
  while (!target.empty()) {
    target.remove_prefix(1);
    const std::string_view pair = target.substr(0, target.find('&'));
    constexpr std::string_view kToken = "token=";
    if (pair.starts_with(kToken)) return percent_decoded(pair.substr(kToken.size()));
    target.remove_prefix(pair.size());
  }
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view shown = view(request[http::field::authorization]);
  return shown.starts_with(kBearer) ? std::string(shown.substr(kBearer.size())) : std::string();
}

bool is_upgrade(const Request::value_type& request) {
  return request.method() == http::verb::get && request.version() == 11 &&
         http::token_list(request[http::field::connection]).exists("upgrade") &&
         http::token_list(request[http::field::upgrade]).exists("websocket");
}

}  // namespace

std::optional<std::size_t> request_size(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr std::string_view kEnd = "\r\n\r\n";
  const std::size_t end = text.find(kEnd);
  return end == std::string_view::npos ? std::nullopt : std::optional(end + kEnd.size());
}

std::string http_refusal(std::string_view status, std::string_view text) {
  std::string out = "HTTP/1.1 " + std::string(status) + "\r\n";
  if (status.starts_with("426"))
    out += "Upgrade: websocket\r\nConnection: Upgrade, close\r\n";
  else
    out += "Connection: close\r\n";
  if (status.starts_with("401")) out += "WWW-Authenticate: Bearer\r\n";
  out += "Content-Type: text/plain; charset=utf-8\r\nContent-Length: " +
         std::to_string(text.size() + 1) + "\r\n\r\n";
  return out + std::string(text) + "\n";
}

Handshake read_handshake(std::string_view text) {
  Handshake out;
  Request parser;
  parser.header_limit(kMaxRequestHead);
  boost::beast::error_code error;
  parser.put(boost::asio::buffer(text.data(), text.size()), error);
  if (error || !parser.is_header_done()) {
    out.reply = http_refusal("400 Bad Request", "the request is not valid HTTP");
    return out;
  }
  const Request::value_type& request = parser.get();
  if (!is_upgrade(request)) {
    out.reply = http_refusal(
        "426 Upgrade Required",
        "this port serves rosbridge. Connect to it by WebSocket, as roslibjs and ROS# do");
    return out;
  }
  const std::string_view key = view(request[http::field::sec_websocket_key]);
  if (view(request[http::field::sec_websocket_version]) != "13" || key.empty()) {
    out.reply =
        "HTTP/1.1 400 Bad Request\r\nSec-WebSocket-Version: 13\r\nContent-Length: 0\r\n"
        "Connection: close\r\n\r\n";
    return out;
  }
  out.accepted = true;
  out.token = token_of(request);
  out.origin = view(request[http::field::origin]);
  out.host = view(request[http::field::host]);
  out.reply =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: " +
      accept_key(key) + "\r\n\r\n";
  return out;
}

}  // namespace hyphos::gateway::net
