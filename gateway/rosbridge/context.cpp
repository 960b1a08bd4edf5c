#include "gateway/rosbridge/context.hpp"

#include <utility>

#include "gateway/convert/json_sink.hpp"
#include "gateway/rosbridge/fragments.hpp"
#include "gateway/rosbridge/json_text.hpp"
#include "gateway/rosbridge/png.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

std::string_view word(Level level) {
  switch (level) {
    case Level::none:
      return "none";
    case Level::error:
      return "error";
    case Level::warning:
      return "warning";
    default:
      return "info";
  }
}

}  // namespace

std::string absolute(const std::string& name) { return name.starts_with('/') ? name : "/" + name; }

std::string id_member(std::string_view id) {
  return id.empty() ? std::string() : R"(,"id":)" + std::string(id);
}

Frame frame_around(std::string_view head, std::string_view member, const Buffer& value, Form form,
                   std::string_view tail) {
  Frame frame{false, {Buffer::copy_of(head), value, Buffer::copy_of(tail)}};
  if (form == Form::cbor) frame.cbor_member = member;
  return frame;
}

Result<Shape> shape_of(const Request& request) {
  Shape shape;
  if (request.fragment_size) {
    if (*request.fragment_size < 1) {
      return Error{Code::invalid_config, "'fragment_size' must be 1 or more", ""};
    }
    shape.fragment_size = static_cast<std::size_t>(*request.fragment_size);
  }
  if (request.compression == "png") {
    shape.png = true;
  } else if (!request.compression.empty() && request.compression != "none") {
    return Error{Code::unsupported,
                 "'compression' of a reply must be png or none, not '" + request.compression + "'",
                 ""};
  }
  return shape;
}

void Context::status(Level of, std::string_view text, std::string_view id) const {
  if (of > level.load(std::memory_order_relaxed)) return;
  std::string out = R"({"op":"status","level":)" + json_string(word(of)) + R"(,"msg":)";
  append_json_text(text, out);
  send(out + id_member(id) + "}");
}

void Context::refuse(const Request& request, const Error& error) const {
  count(to_string(error.code), request.op + ": " + error.message);
  tell(request, error);
}

void Context::tell(const Request& request, const Error& error) const {
  std::string text = request.op.empty() ? "" : request.op + ": ";
  text += error.message;
  if (!error.where.empty()) text += " (" + error.where + ")";
  status(Level::error, text, request.id);
}

void Context::send(std::string_view text) const {
  const Frame frame{false, {Buffer::copy_of(text), {}, {}}};
  (void)sink.send(kControlOutput, 0, {&frame, 1});
}

void Context::send(std::string_view text, const Shape& shape) {
  const auto out = frames(text, shape);
  if (!out) return status(Level::error, out.error().message, "");
  (void)sink.send(kControlOutput, 0, *out);
}

Result<std::vector<Frame>> Context::frames(std::string_view text, const Shape& shape) {
  const auto frame = [](std::string_view whole) {
    return Frame{false, {Buffer::copy_of(whole), {}, {}}};
  };
  std::string image;
  if (shape.png) {
    image = png_message(to_ascii(text));
    text = image;
  }
  std::vector<Frame> out;
  if (text.size() <= shape.fragment_size) {
    out.push_back(frame(text));
    return out;
  }
  const std::uint64_t number = fragments_.fetch_add(1, std::memory_order_relaxed);
  const auto pieces = split(text, shape.fragment_size, "fragments " + std::to_string(number));
  if (!pieces) return pieces.error();
  for (const std::string& piece : *pieces) out.push_back(frame(piece));
  return out;
}

void Context::count(std::string_view why, std::string_view detail) const {
  facade.clients().count(client, why, detail);
}

}  // namespace hyphos::gateway::rosbridge
