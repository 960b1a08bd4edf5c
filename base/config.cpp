#include "base/config.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <sstream>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/utf8.hpp"

namespace hyphos::config {
namespace {

/// Thrown to end the parse: the document is unreadable or exceeds a limit.
struct Stop {
  Source source;
  std::string text;
};

/// Builds the tree from the parser's events. It does not use YAML::Node, because a Node loses the
/// places of keys, drops repeated keys, and follows aliases without a bound.
class Builder final : public YAML::EventHandler {
 public:
  Builder(std::shared_ptr<const std::string> file, std::string_view text, const Limits& limits,
          Problems& problems)
      : file_(std::move(file)), text_(text), limits_(limits), problems_(problems) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0)
      throw Stop{at(mark), "the file has a second document, but only one is read"};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Value value;
    value.source = at(mark);
    value.text = null_word(mark);
    put(std::move(value), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    Value value;
    value.kind = Value::Kind::scalar;
    value.plain = tag == "?";
    value.text = text;
    value.source = at(mark);
    if (text.find('\0') != std::string::npos) problems_.error(value.source, "text contains NUL");
    put(std::move(value), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Stop{at(mark), "an alias is inside its own anchor"};
    charge(found->second, at(mark));
    put(found->second, 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Value::Kind::list, at(mark), anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Value::Kind::map, at(mark), anchor);
  }
  void OnMapEnd() override {
    merge(stack_.back().value);
    close();
  }

  [[nodiscard]] Value take() { return std::move(root_); }

 private:
  struct Frame {
    Value value;
    YAML::anchor_t anchor = 0;
    bool has_key = false;  // a map's key was read, its value is next
    Entry entry;
  };

  [[nodiscard]] Source at(const YAML::Mark& mark) const {
    return {file_, mark.line + 1, mark.column + 1};
  }

  /// The literal of the empty value, or empty if there is none. The parser does not keep it.
  [[nodiscard]] std::string null_word(const YAML::Mark& mark) const {
    if (mark.pos < 0 || static_cast<std::size_t>(mark.pos) > text_.size()) return {};
    std::string_view rest = text_.substr(static_cast<std::size_t>(mark.pos));
    rest = rest.substr(0, rest.find_first_of(" \t\r\n,]}#:"));
    for (const std::string_view word : {"null", "Null", "NULL", "~"}) {
      if (rest == word) return std::string(word);
    }
    return {};
  }

  void open(Value::Kind kind, Source source, YAML::anchor_t anchor) {
    if (stack_.size() >= limits_.depth) {
      throw Stop{source, "nested more than " + std::to_string(limits_.depth) + " deep"};
    }
    Frame frame;
    frame.value.kind = kind;
    frame.value.source = std::move(source);
    frame.anchor = anchor;
    stack_.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    put(std::move(frame.value), frame.anchor);
  }

  /// Counts the values and bytes that an alias adds, before they are copied.
  void charge(const Value& value, const Source& source) {
    charge_one(value.text.size(), source);
    for (const Value& item : value.items) charge(item, source);
    for (const Entry& entry : value.entries) {
      charge_one(entry.key.size(), source);
      charge(entry.value, source);
    }
  }
  void charge_one(std::size_t bytes, const Source& source) {
    bytes_ += bytes;
    if (++values_ > limits_.values || bytes_ > limits_.expanded_bytes) {
      throw Stop{source, "too large once its aliases are expanded (limit: " +
                             std::to_string(limits_.values) + " values, " +
                             std::to_string(limits_.expanded_bytes) + " bytes)"};
    }
  }

  void put(Value value, YAML::anchor_t anchor) {
    charge_one(value.text.size(), value.source);
    if (anchor != 0) {
      charge(value, value.source);
      anchors_.insert_or_assign(anchor, value);
    }
    if (stack_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& top = stack_.back();
    if (top.value.kind == Value::Kind::list) {
      top.value.items.push_back(std::move(value));
    } else if (!top.has_key) {
      if (value.kind != Value::Kind::scalar) throw Stop{value.source, "a key must be a word"};
      top.entry = Entry{std::move(value.text), std::move(value.source), {}};
      top.has_key = true;
    } else {
      top.entry.value = std::move(value);
      // An empty value has no place, so it takes the place of its key.
      if (top.entry.value.is(Value::Kind::null)) top.entry.value.source = top.entry.source;
      top.value.entries.push_back(std::move(top.entry));
      top.has_key = false;
    }
  }

  /// `<<: *defaults`: adds the entries whose keys the map does not have.
  void merge(Value& map) {
    const auto is_merge = [](const Entry& entry) { return entry.key == "<<"; };
    const auto found = std::find_if(map.entries.begin(), map.entries.end(), is_merge);
    if (found == map.entries.end()) return;
    Entry merged = std::move(*found);
    map.entries.erase(found);
    std::vector<Value> sources;
    if (merged.value.is(Value::Kind::list)) {
      sources = std::move(merged.value.items);
    } else {
      sources.push_back(std::move(merged.value));
    }
    std::unordered_set<std::string> known;
    for (const Entry& entry : map.entries) known.insert(entry.key);
    for (Value& source : sources) {
      if (!source.is(Value::Kind::map)) {
        problems_.error(merged.source,
                        "'<<' merges maps only, write '<<: *name' of an anchored map");
        return;
      }
      for (Entry& entry : source.entries) {
        if (known.insert(entry.key).second) map.entries.push_back(std::move(entry));
      }
    }
  }

  std::shared_ptr<const std::string> file_;
  std::string_view text_;
  const Limits& limits_;
  Problems& problems_;
  std::vector<Frame> stack_;
  std::unordered_map<YAML::anchor_t, Value> anchors_;
  Value root_;
  std::size_t values_ = 0;
  std::size_t bytes_ = 0;
  int documents_ = 0;
};

Source place_of(const std::shared_ptr<const std::string>& file, std::string_view text,
                std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t start = before.rfind('\n');
  const std::size_t column = start == std::string_view::npos ? offset + 1 : offset - start;
  return {file, static_cast<int>(line), static_cast<int>(column)};
}

}  // namespace

std::string Source::to_string() const {
  std::string text = file ? *file : std::string();
  if (line > 0) text += ":" + std::to_string(line) + ":" + std::to_string(column);
  return text;
}

const Value* Value::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Value* Value::find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

void Problems::add(const Source& source, std::string text, bool warning) {
  const std::string file = source.file ? *source.file : std::string();
  for (const Problem& known : problems_) {  // an alias repeats the errors of its anchor
    if (full()) break;
    if (known.source.line == source.line && known.source.column == source.column &&
        known.text == text && files_[known.file_order] == file) {
      return;
    }
  }
  if (!warning) ++errors_;
  if (full()) return;
  const auto known = std::find(files_.begin(), files_.end(), file);
  const auto order = static_cast<std::size_t>(known - files_.begin());
  if (known == files_.end()) files_.push_back(file);
  problems_.push_back({source, std::move(text), warning, order});
}

std::vector<const Problems::Problem*> Problems::sorted(bool warnings) const {
  std::vector<const Problem*> out;
  for (const Problem& problem : problems_) {
    if (problem.warning == warnings) out.push_back(&problem);
  }
  std::stable_sort(out.begin(), out.end(), [](const Problem* a, const Problem* b) {
    return std::tie(a->file_order, a->source.line, a->source.column) <
           std::tie(b->file_order, b->source.line, b->source.column);
  });
  return out;
}

Error Problems::to_error() const {
  Error error{Code::invalid_config, {}, {}};
  const std::vector<const Problem*> all = sorted(false);
  for (const Problem* problem : all) {
    if (error.where.empty() && error.message.empty()) {
      error.where = problem->source.to_string();
    } else {
      error.message += "\n" + problem->source.to_string() + ": ";
    }
    error.message += problem->text;
  }
  if (errors_ > 1) error.message += "\n" + std::to_string(errors_) + " errors";
  if (errors_ > all.size()) error.message += ", of which the first are shown";
  return error;
}

std::vector<std::string> Problems::warnings() const {
  std::vector<std::string> out;
  for (const Problem* problem : sorted(true)) {
    out.push_back(problem->source.to_string() + ": " + problem->text);
  }
  return out;
}

Result<std::string> read_file(const std::string& path, const Limits& limits) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) {
    const int reason = errno;
    const Code code = reason == ENOENT   ? Code::not_found
                      : reason == EACCES ? Code::permission
                                         : Code::io;
    return Error{code, std::string("cannot open the file: ") + std::strerror(reason), path};
  }
  // In blocks, because the limit may be far above the size of the file, which may be a pipe.
  constexpr std::size_t kBlock = std::size_t{64} << 10;
  std::string text;
  std::size_t got = kBlock;
  errno = 0;
  while (got == kBlock && text.size() <= limits.bytes) {
    const std::size_t before = text.size();
    text.resize(before + kBlock);
    got = std::fread(text.data() + before, 1, kBlock, file.get());
    text.resize(before + got);
  }
  if (std::ferror(file.get()) != 0) {
    return Error{Code::io, std::string("cannot read the file: ") + std::strerror(errno), path};
  }
  if (text.size() > limits.bytes) {
    return Error{Code::invalid_config,
                 "larger than the limit of " + std::to_string(limits.bytes) + " bytes", path};
  }
  return text;
}

namespace {

/// Line and column of a tab in the indentation of a line, the last one up to `line` or the next
/// one.
std::optional<std::pair<int, int>> find_indenting_tab(std::string_view text, int line) {
  std::optional<std::pair<int, int>> found;
  int number = 1;
  for (std::size_t at = 0; at < text.size() && (number <= line || !found); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view whole = text.substr(at, end - at);
    const std::string_view indent =
        whole.substr(0, std::min(whole.find_first_not_of(" \t"), whole.size()));
    if (const std::size_t tab = indent.find('\t');
        tab != std::string_view::npos && indent.size() < whole.size()) {
      found = {number, static_cast<int>(tab) + 1};
    }
    at = end + 1;
  }
  return found;
}

}  // namespace

Value parse_yaml(std::string_view text, const std::string& name, Problems& problems,
                 const Limits& limits) {
  const auto file = std::make_shared<const std::string>(name);
  if (text.size() > limits.bytes) {
    problems.error({file, 1, 1},
                   "larger than the limit of " + std::to_string(limits.bytes) + " bytes");
    return {};
  }
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (const std::size_t bad = find_bad_utf8(text); bad != std::string_view::npos) {
    problems.error(
        place_of(file, text, bad),
        "this byte is not UTF-8 text. Save the file as UTF-8 without control characters");
    return {};
  }
  Builder builder(file, text, limits, problems);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop& stop) {
    problems.error(stop.source, stop.text);
  } catch (const YAML::Exception& error) {
    if (const auto tab = find_indenting_tab(text, error.mark.line + 1)) {
      problems.error({file, tab->first, tab->second},
                     "invalid YAML: a tab in the indentation. Replace it by spaces");
    } else {
      problems.error({file, error.mark.line + 1, error.mark.column + 1},
                     "invalid YAML: " + error.msg);
    }
  }
  Value root = builder.take();
  if (!root.source.file) root.source = {file, 1, 1};
  return root;
}

void report_duplicates(const Value& value, Problems& problems) {
  std::unordered_map<std::string_view, const Entry*> seen;
  for (const Entry& entry : value.entries) {
    const auto [first, is_new] = seen.emplace(entry.key, &entry);
    if (!is_new) {
      problems.error(entry.source, "'" + entry.key + "' is a duplicate key, first at " +
                                       first->second->source.to_string() + ". Remove one");
    }
    report_duplicates(entry.value, problems);
  }
  for (const Value& item : value.items) report_duplicates(item, problems);
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t kLongest = 64;
  if (word.size() > kLongest) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    // Optimal string alignment distance (Damerau 1964), with three rows of the usual table.
    std::vector<std::size_t> before(candidate.size() + 1);
    std::vector<std::size_t> last(candidate.size() + 1);
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::swap(before, last);
      std::swap(last, row);
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t swap_cost = word[i - 1] == candidate[j - 1] ? 0 : 1;
        row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + swap_cost});
        if (i > 1 && j > 1 && word[i - 1] == candidate[j - 2] && word[i - 2] == candidate[j - 1]) {
          row[j] = std::min(row[j], before[j - 2] + 1);
        }
      }
    }
    // A candidate without a character in common is not similar.
    if (row.back() < best_distance && row.back() < word.size()) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace hyphos::config
