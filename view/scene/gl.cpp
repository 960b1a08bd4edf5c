#include "view/scene/gl.hpp"

#include <array>
#include <vector>

namespace hyphos::view {
namespace {

constexpr const char* kRemedy =
    "Install a driver with OpenGL 3.3, or use the software one: LIBGL_ALWAYS_SOFTWARE=1";

std::string text_of(const GLubyte* text) {
  return text == nullptr ? "unknown" : reinterpret_cast<const char*>(text);
}

Result<GLuint> compile(Gl& gl, GLenum kind, std::string_view name, std::string_view source) {
  const GLuint shader = gl.CreateShader(kind);
  const std::string whole = "#version 330 core\n" + std::string(source);
  const char* text = whole.c_str();
  gl.ShaderSource(shader, 1, &text, nullptr);
  gl.CompileShader(shader);
  GLint good = GL_FALSE;
  gl.GetShaderiv(shader, GL_COMPILE_STATUS, &good);
  if (good == GL_TRUE) return shader;
  std::array<char, 1024> log{};
  gl.GetShaderInfoLog(shader, log.size(), nullptr, log.data());
  gl.DeleteShader(shader);
  return Error{Code::unsupported,
               "the driver refuses the shader '" + std::string(name) + "': " + log.data(), ""};
}

}  // namespace

Result<void> Gl::load(GlLoader loader) {
  std::string missing;
#define HYPHOS_GL_LOAD(type, name)                                             \
  name = reinterpret_cast<PFNGL##type##PROC>(loader("gl" #name)); /* NOLINT */ \
  if ((name) == nullptr && missing.empty()) missing = "gl" #name;
  HYPHOS_GL_FUNCTIONS(HYPHOS_GL_LOAD)
#undef HYPHOS_GL_LOAD
  if (GetString == nullptr || GetIntegerv == nullptr) {
    return Error{Code::unsupported, std::string("there is no OpenGL here. ") + kRemedy, ""};
  }
  GLint major = 0;
  GLint minor = 0;
  GetIntegerv(GL_MAJOR_VERSION, &major);
  GetIntegerv(GL_MINOR_VERSION, &minor);
  if (major * 10 + minor < 33) {
    return Error{Code::unsupported,
                 "the viewer needs OpenGL 3.3, and " + text_of(GetString(GL_RENDERER)) + " has " +
                     text_of(GetString(GL_VERSION)) + ". " + kRemedy,
                 ""};
  }
  if (!missing.empty()) {
    return Error{Code::unsupported, "the driver has no function " + missing + ". " + kRemedy, ""};
  }
  return success();
}

std::string Gl::description() const {
  return text_of(GetString(GL_RENDERER)) + ", OpenGL " + text_of(GetString(GL_VERSION));
}

GlName make_buffer(Gl& gl) {
  GLuint name = 0;
  gl.GenBuffers(1, &name);
  return {gl, name, [](Gl& of, GLuint each) { of.DeleteBuffers(1, &each); }};
}

GlName make_vertex_array(Gl& gl) {
  GLuint name = 0;
  gl.GenVertexArrays(1, &name);
  return {gl, name, [](Gl& of, GLuint each) { of.DeleteVertexArrays(1, &each); }};
}

GlName make_texture(Gl& gl) {
  GLuint name = 0;
  gl.GenTextures(1, &name);
  return {gl, name, [](Gl& of, GLuint each) { of.DeleteTextures(1, &each); }};
}

GlName make_framebuffer(Gl& gl) {
  GLuint name = 0;
  gl.GenFramebuffers(1, &name);
  return {gl, name, [](Gl& of, GLuint each) { of.DeleteFramebuffers(1, &each); }};
}

Result<GlProgram> GlProgram::build(Gl& gl, std::string_view name, std::string_view vertex,
                                   std::string_view fragment) {
  auto first = compile(gl, GL_VERTEX_SHADER, name, vertex);
  if (!first) return first.error();
  auto second = compile(gl, GL_FRAGMENT_SHADER, name, fragment);
  if (!second) {
    gl.DeleteShader(*first);
    return second.error();
  }
  GlProgram program;
  program.gl_ = &gl;
  program.name_ = {gl, gl.CreateProgram(), [](Gl& of, GLuint each) { of.DeleteProgram(each); }};
  for (const GLuint shader : {*first, *second}) {
    gl.AttachShader(program.name_.get(), shader);
  }
  gl.LinkProgram(program.name_.get());
  for (const GLuint shader : {*first, *second}) gl.DeleteShader(shader);
  GLint good = GL_FALSE;
  gl.GetProgramiv(program.name_.get(), GL_LINK_STATUS, &good);
  if (good == GL_TRUE) return program;
  std::array<char, 1024> log{};
  gl.GetProgramInfoLog(program.name_.get(), log.size(), nullptr, log.data());
  return Error{Code::unsupported,
               "the driver cannot link the program '" + std::string(name) + "': " + log.data(), ""};
}

Result<void> GlTarget::resize(Gl& gl, int new_width, int new_height) {
  if (new_width == width && new_height == height && framebuffer) return success();
  width = new_width;
  height = new_height;
  if (!framebuffer) framebuffer = make_framebuffer(gl);
  // A texture of another size is a new one, as some drivers keep the old memory otherwise.
  color = make_texture(gl);
  depth = make_texture(gl);
  gl.BindTexture(GL_TEXTURE_2D, depth.get());
  gl.TexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT24, width, height, 0, GL_DEPTH_COMPONENT,
                GL_UNSIGNED_INT, nullptr);
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  gl.BindTexture(GL_TEXTURE_2D, color.get());
  gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer.get());
  gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, color.get(), 0);
  gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, depth.get(), 0);
  if (gl.CheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE) return success();
  return Error{Code::exhausted,
               "the driver refuses a picture of " + std::to_string(width) + " x " +
                   std::to_string(height) + " pixels",
               ""};
}

}  // namespace hyphos::view
