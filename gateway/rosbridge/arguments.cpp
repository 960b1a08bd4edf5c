#include "gateway/rosbridge/arguments.hpp"

#include "gateway/net/web_socket.hpp"
#include "gateway/rosbridge/definition.hpp"
#include "gateway/rosbridge/json_text.hpp"
#include "gateway/rosbridge/request.hpp"

namespace hyphos::gateway::rosbridge {

Result<std::string> arguments_object(std::string_view args, const std::string& name,
                                     const std::function<Result<TypeInfo>()>& type) {
  std::string text = with_quoted_specials(args);
  if (text.empty()) text = args;
  if (text.empty() || text == "null") return std::string("{}");
  if (text.front() == '{') return text;
  if (text.front() != '[') {
    return Error{Code::corrupt, "'args' must be an object or a list", name};
  }
  text.reserve(text.size() + net::kPadding);
  const auto items = list_items(text);
  if (!items) return items.error();
  if (items->empty()) return std::string("{}");
  const auto info = type();
  if (!info) return info.error();
  const auto fields = read_definitions(info->name, info->text);
  std::string named = arguments_by_name(*items, fields.front());
  if (named.empty()) {
    return Error{Code::corrupt,
                 "'args' has " + std::to_string(items->size()) + " items, but " + info->name +
                     " has " + std::to_string(fields.front().fields.size()) + " fields",
                 name};
  }
  return named;
}

}  // namespace hyphos::gateway::rosbridge
