#include "gateway/ros2/names.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "gateway/facade/channel_names.hpp"

namespace hyphos::gateway::ros2 {
namespace {

constexpr std::string_view kTopicPrefix = "rt/";
constexpr std::string_view kRequest = "rq/";
constexpr std::string_view kReply = "rr/";
constexpr std::string_view kRequestEnd = "Request";
constexpr std::string_view kReplyEnd = "Reply";
constexpr std::string_view kDds = "::dds_::";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(std::string_view word) {
  if (word.empty() || !is_letter(word[0])) return false;
  for (const char c : word) {
    if (!is_letter(c) && !is_digit(c)) return false;
  }
  return true;
}

std::string_view without_slash(std::string_view name) {
  return name.starts_with('/') ? name.substr(1) : name;
}

std::optional<std::string> middle_of(std::string_view name, std::string_view begin,
                                     std::string_view end) {
  if (name.size() <= begin.size() + end.size() || !name.starts_with(begin) ||
      !name.ends_with(end)) {
    return std::nullopt;
  }
  return "/" + std::string(name.substr(begin.size(), name.size() - begin.size() - end.size()));
}

/// The words of "a/b/c". Empty if one of them is not a valid word.
std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    words.push_back(name.substr(at, end - at));
    if (!is_word(words.back())) return {};
    at = end + 1;
  }
  return words;
}

}  // namespace

std::optional<std::string> topic_of_dds(std::string_view name) {
  return middle_of(name, kTopicPrefix, "");
}

std::string dds_topic(std::string_view topic) {
  return std::string(kTopicPrefix) + std::string(without_slash(topic));
}

std::optional<ServiceTopic> service_of_dds(std::string_view name) {
  if (auto service = middle_of(name, kRequest, kRequestEnd)) return ServiceTopic{*service, true};
  if (auto service = middle_of(name, kReply, kReplyEnd)) return ServiceTopic{*service, false};
  return std::nullopt;
}

std::string dds_request(std::string_view service) {
  return std::string(kRequest) + std::string(without_slash(service)) + std::string(kRequestEnd);
}

std::string dds_reply(std::string_view service) {
  return std::string(kReply) + std::string(without_slash(service)) + std::string(kReplyEnd);
}

std::optional<std::string> type_of_dds(std::string_view type) {
  const std::size_t dds = type.find(kDds);
  if (dds == std::string_view::npos || !type.ends_with('_')) return std::nullopt;
  const std::string_view packages = type.substr(0, dds);
  const std::string_view name = type.substr(dds + kDds.size());
  const std::size_t colons = packages.find("::");
  if (colons == std::string_view::npos) return std::nullopt;
  std::string ros(packages.substr(0, colons));
  ros.append("/").append(packages.substr(colons + 2));
  ros.append("/").append(name.substr(0, name.size() - 1));
  if (words_of(ros).size() != 3) return std::nullopt;
  return ros;
}

std::string ros2_type(std::string_view type, std::string_view middle) {
  const std::size_t slash = type.find('/');
  if (slash == std::string_view::npos || slash != type.rfind('/')) return std::string(type);
  return std::string(type.substr(0, slash + 1)) + std::string(middle) +
         std::string(type.substr(slash));
}

std::string dds_type(std::string_view type, std::string_view middle) {
  const std::string whole = ros2_type(type, middle);
  const auto words = words_of(whole);
  if (words.size() != 3) return {};
  std::string dds(words[0]);
  dds.append("::").append(words[1]).append(kDds).append(words[2]).append("_");
  return dds;
}

std::optional<std::string> service_type_of_dds(std::string_view type) {
  auto ros = type_of_dds(type);
  if (!ros) return std::nullopt;
  for (const std::string_view end : {"_Request", "_Response"}) {
    if (ros->ends_with(end)) return ros->substr(0, ros->size() - end.size());
  }
  return std::nullopt;
}

std::string put_user_data(std::string_view key, std::string_view value) {
  return std::string(key) + "=" + std::string(value) + ";";
}

std::string take_user_data(std::string_view data, std::string_view key) {
  while (!data.empty()) {
    const std::size_t end = std::min(data.find(';'), data.size());
    const std::string_view entry = data.substr(0, end);
    if (entry.size() > key.size() && entry.starts_with(key) && entry[key.size()] == '=') {
      return std::string(entry.substr(key.size() + 1));
    }
    data.remove_prefix(std::min(end + 1, data.size()));
  }
  return {};
}

bool is_name(std::string_view name) {
  return name.starts_with('/') && !words_of(name.substr(1)).empty();
}

std::pair<std::string, std::string> split_node(std::string_view name) {
  const std::string_view plain = without_slash(name);
  const std::size_t slash = plain.rfind('/');
  if (slash == std::string_view::npos) return {"/", std::string(plain)};
  return {"/" + std::string(plain.substr(0, slash)), std::string(plain.substr(slash + 1))};
}

bool is_rosout(std::string_view topic, std::string_view type) {
  return topic == kRosout && type == kLogType;
}

std::string list_of(const std::vector<std::string>& names, std::string_view none,
                    std::string_view quote) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    text.append(quote).append(name).append(quote);
  }
  return text.empty() ? std::string(none) : text;
}

}  // namespace hyphos::gateway::ros2
