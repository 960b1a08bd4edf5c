#include "cosim/physics/mujoco/model_file.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/config.hpp"

namespace hyphos::cosim {
namespace {

namespace fs = std::filesystem;
using tinyxml2::XMLDocument;
using tinyxml2::XMLElement;
using tinyxml2::XMLNode;

constexpr std::size_t kMostText = 8 << 20;
constexpr std::uintmax_t kMostFile = 64 << 20;
constexpr std::size_t kMostFiles = 256;
constexpr std::size_t kMostElements = 100'000;
constexpr int kMostIncludes = 32;
constexpr double kMostComposite = 1000;  // bodies of one composite object
constexpr double kMostHeights = 1e6;     // of one height field

class Reader {
 public:
  explicit Reader(const RobotModel& robot) : robot_(robot) {}

  Result<ModelText> read() {
    std::error_code error;
    root_ = fs::weakly_canonical(
        robot_.folder.empty() ? fs::path(robot_.file).parent_path() / "." : fs::path(robot_.folder),
        error);
    if (auto loaded = load(robot_.file, document_); !loaded) return loaded.error();
    XMLElement* top = document_.RootElement();
    const std::string_view kind = top->Name();
    if (kind != "mujoco" && kind != "robot") {
      return bad(robot_.file, top->GetLineNum(),
                 "a model begins with <mujoco> or, in URDF, with <robot>, not with <" +
                     std::string(kind) + ">");
    }
    folder_ = fs::absolute(fs::path(robot_.file)).parent_path();
    if (auto inserted = include(*top, robot_.file); !inserted) return inserted.error();
    find_folders(*top);
    if (auto checked = check(*top); !checked) return checked.error();
    if (kind == "robot") free_base(*top);
    set_compiler(*top, kind == "robot");
    ModelText made{printed(document_), {}};
    XMLDocument again;
    if (again.Parse(made.text.data(), made.text.size()) == tinyxml2::XML_SUCCESS) {
      pair_lines(*again.RootElement(), *top, made.lines);
    }
    return made;
  }

 private:
  static void pair_lines(const XMLElement& printed, const XMLElement& read,
                         std::map<int, int>& lines) {
    lines.emplace(printed.GetLineNum(), read.GetLineNum());
    const XMLElement* other = read.FirstChildElement();
    for (const XMLElement* child = printed.FirstChildElement();
         child != nullptr && other != nullptr;
         child = child->NextSiblingElement(), other = other->NextSiblingElement()) {
      pair_lines(*child, *other, lines);
    }
  }

  static Error bad(const std::string& file, int line, std::string what) {
    return {Code::invalid_config, std::move(what), file + ":" + std::to_string(line)};
  }

  Result<void> load(const std::string& file, XMLDocument& to) {
    config::Limits limits;
    limits.bytes = kMostText;
    auto text = config::read_file(file, limits);
    if (!text) return text.error();
    if (to.Parse(text->data(), text->size()) != tinyxml2::XML_SUCCESS ||
        to.RootElement() == nullptr) {
      return bad(file, std::max(1, to.ErrorLineNum()),
                 std::string("is not valid XML (") + to.ErrorName() +
                     "): correct the element at this line");
    }
    return success();
  }

  /// Replaces each <include file="…"/> by the content of its file.
  Result<void> include(XMLElement& parent, const std::string& file) {
    for (XMLElement* child = parent.FirstChildElement(); child != nullptr;) {
      XMLElement* const next = child->NextSiblingElement();
      if (std::string_view(child->Name()) != "include") {
        if (auto done = include(*child, file); !done) return done;
        child = next;
        continue;
      }
      const char* name = child->Attribute("file");
      if (name == nullptr) return bad(file, child->GetLineNum(), "<include> without a file");
      if (++includes_ > kMostIncludes) {
        return bad(file, child->GetLineNum(),
                   "more than " + std::to_string(kMostIncludes) +
                       " includes: a file may include "
                       "itself");
      }
      auto found = inside(folder_ / name, file, child->GetLineNum());
      if (!found) return found.error();
      XMLDocument part;
      if (auto loaded = load(found->string(), part); !loaded) return loaded;
      if (auto done = include(*part.RootElement(), found->string()); !done) return done;
      XMLNode* after = child;
      for (const XMLNode* node = part.RootElement()->FirstChild(); node != nullptr;
           node = node->NextSibling()) {
        after = parent.InsertAfterChild(after, node->DeepClone(&document_));
      }
      parent.DeleteChild(child);
      child = next;
    }
    return success();
  }

  /// The file with all links resolved, if it is below the folder of the model.
  Result<fs::path> inside(const fs::path& path, const std::string& file, int line) const {
    std::error_code error;
    fs::path found = fs::weakly_canonical(path, error);
    const fs::path relative = found.lexically_relative(root_);
    if (error || relative.empty() || *relative.begin() == "..") {
      return bad(file, line,
                 "names '" + path.string() + "', which is outside " + root_.string() +
                     ": move the file there, or set model.folder of the robot");
    }
    if (!fs::is_regular_file(found, error)) {
      return bad(file, line, "there is no file '" + found.string() + "'");
    }
    if (fs::file_size(found, error) > kMostFile || error) {
      return bad(file, line, "'" + found.string() + "' has more than 64 MiB: simplify it");
    }
    return found;
  }

  void find_folders(const XMLElement& at) {
    if (std::string_view(at.Name()) == "compiler") {
      if (const char* all = at.Attribute("assetdir")) meshes_ = textures_ = all;
      if (const char* meshes = at.Attribute("meshdir")) meshes_ = meshes;
      if (const char* textures = at.Attribute("texturedir")) textures_ = textures;
    }
    for (const XMLElement* child = at.FirstChildElement(); child != nullptr;
         child = child->NextSiblingElement()) {
      find_folders(*child);
    }
  }

  /// Checks an element and all below it, and makes the paths of files absolute.
  Result<void> check(XMLElement& at) {
    if (++elements_ > kMostElements) {
      return bad(robot_.file, at.GetLineNum(), "more than 100,000 elements: simplify the model");
    }
    const std::string_view name = at.Name();
    if (name == "composite" && product(at, "count", 3) > kMostComposite) {
      return bad(robot_.file, at.GetLineNum(), "a <composite> has at most 1000 parts here");
    }
    if (name == "hfield" &&
        at.DoubleAttribute("nrow") * at.DoubleAttribute("ncol") > kMostHeights) {
      return bad(robot_.file, at.GetLineNum(), "an <hfield> has at most 1,000,000 heights here");
    }
    for (const char* attribute : {"file", "filename"}) {
      if (auto done = check_file(at, attribute); !done) return done;
    }
    for (XMLElement* child = at.FirstChildElement(); child != nullptr;
         child = child->NextSiblingElement()) {
      if (auto done = check(*child); !done) return done;
    }
    return success();
  }

  Result<void> check_file(XMLElement& at, const char* attribute) {
    const char* const given = at.Attribute(attribute);
    if (given == nullptr) return success();
    if (++files_ > kMostFiles) {
      return bad(robot_.file, at.GetLineNum(), "names more than 256 files: simplify the model");
    }
    std::string_view name = given;
    fs::path from = folder_;
    constexpr std::string_view kPackage = "package://";
    if (name.starts_with(kPackage)) {
      name.remove_prefix(kPackage.size());
      name.remove_prefix(std::min(name.find('/') + 1, name.size()));
      from = root_;
    } else {
      from /= std::string_view(at.Name()) == "texture" ? textures_ : meshes_;
    }
    auto found = inside(from / name, robot_.file, at.GetLineNum());
    if (!found) return found.error();
    at.SetAttribute(attribute, found->c_str());
    return success();
  }

  static double product(const XMLElement& at, const char* attribute, int most) {
    const char* const given = at.Attribute(attribute);
    if (given == nullptr) return 1;
    std::istringstream words(given);
    double all = 1;
    double one = 0;
    for (int i = 0; i < most && words >> one; ++i) all *= std::max(1.0, one);
    return all;
  }

  /// MuJoCo fixes the first link of URDF to the world. A free joint above it makes a robot of it.
  void free_base(XMLElement& robot) {
    std::vector<std::string> children;
    for (const XMLElement* joint = robot.FirstChildElement("joint"); joint != nullptr;
         joint = joint->NextSiblingElement("joint")) {
      const XMLElement* child = joint->FirstChildElement("child");
      if (child != nullptr && child->Attribute("link") != nullptr) {
        children.emplace_back(child->Attribute("link"));
      }
    }
    for (const XMLElement* link = robot.FirstChildElement("link"); link != nullptr;
         link = link->NextSiblingElement("link")) {
      const char* name = link->Attribute("name");
      if (name == nullptr || std::ranges::find(children, name) != children.end()) continue;
      XMLElement* joint = robot.InsertNewChildElement("joint");
      joint->SetAttribute("name", "hyphos_base");
      joint->SetAttribute("type", "floating");
      joint->InsertNewChildElement("parent")->SetAttribute("link", "hyphos_world");
      joint->InsertNewChildElement("child")->SetAttribute("link", name);
      robot.InsertNewChildElement("link")->SetAttribute("name", "hyphos_world");
      return;
    }
  }

  void set_compiler(XMLElement& top, bool urdf) {
    XMLElement* holder = &top;
    if (urdf) {
      holder = top.FirstChildElement("mujoco");
      if (holder == nullptr) holder = top.InsertNewChildElement("mujoco");
    }
    if (holder->FirstChildElement("compiler") == nullptr) {
      holder->InsertFirstChild(document_.NewElement("compiler"));
    }
    for (XMLElement* compiler = holder->FirstChildElement("compiler"); compiler != nullptr;
         compiler = compiler->NextSiblingElement("compiler")) {
      for (const char* folder : {"assetdir", "meshdir", "texturedir"}) {
        compiler->DeleteAttribute(folder);
      }
      compiler->SetAttribute("strippath", "false");
    }
    // Sizes are chosen for the whole world. A file could ask for more memory than there is.
    for (XMLElement* size = top.FirstChildElement("size"); size != nullptr;) {
      XMLElement* const next = size->NextSiblingElement("size");
      top.DeleteChild(size);
      size = next;
    }
  }

  const RobotModel& robot_;
  XMLDocument document_;
  fs::path root_;    // files must be here or below
  fs::path folder_;  // of the model
  std::string meshes_;
  std::string textures_;
  int includes_ = 0;
  std::size_t files_ = 0;
  std::size_t elements_ = 0;
};

}  // namespace

std::string printed(const XMLNode& node) {
  tinyxml2::XMLPrinter printer;
  node.Accept(&printer);
  return printer.CStr();
}

Result<ModelText> read_model_file(const RobotModel& robot) { return Reader(robot).read(); }

}  // namespace hyphos::cosim
