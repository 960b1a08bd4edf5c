# The result of `cmake --install`: libraries, headers, messages, find_package(hyphos) and pkg-config.
# The component `python` is the wheel. The other rules and the wheel exclude each other.
# With HYPHOS_BUILD_DEBS, each Debian package is a component of its own (packaging/).
include(CMakePackageConfigHelpers)

set(HYPHOS_INSTALL_PROTO_DIR ${CMAKE_INSTALL_DATADIR}/hyphos/proto)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hyphos)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(HYPHOS_BUILD_DEBS)
  set(libraries libhyphos0)
  set(devel libhyphos-dev)
  set(gateways hyphos-gateways)
  set(tools hyphos-tools)
  set(cosim_dir lib/hyphos/cosim)
else()
  foreach(part libraries devel gateways tools)
    set(${part} devel)
  endforeach()
  set(cosim_dir ${CMAKE_INSTALL_BINDIR})
endif()

# The messages have a file of targets of their own, because they need Protobuf.
install(TARGETS hyphos hyphos_c EXPORT hyphosTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${libraries} NAMELINK_COMPONENT ${devel})
install(TARGETS hyphos_msgs EXPORT hyphosMsgsTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${libraries} NAMELINK_COMPONENT ${devel})
install(EXPORT hyphosMsgsTargets NAMESPACE hyphos:: DESTINATION ${config_dir} COMPONENT ${devel})
# The gateways and the co-simulator may be in packages that are not installed, so each has a file
# of targets that hyphosConfig.cmake includes if it is there.
if(HYPHOS_BUILD_GATEWAY)
  install(TARGETS hyphos_gateway EXPORT hyphosGatewayTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${gateways} NAMELINK_COMPONENT ${devel})
  install(FILES gateway/include/hyphos/gateway.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hyphos
    COMPONENT ${devel})
  install(EXPORT hyphosGatewayTargets NAMESPACE hyphos:: DESTINATION ${config_dir} COMPONENT ${devel})
endif()
# With Debian packages, packaging/cpack.cmake installs it.
if(NOT HYPHOS_BUILD_DEBS)
  install(TARGETS hyphos-host RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${devel})
endif()
if(HYPHOS_BUILD_BUILTIN)
  install(TARGETS hyphos_builtin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${tools}
    NAMELINK_SKIP)
endif()
if(HYPHOS_BUILD_COSIM)
  install(TARGETS hyphos_cosim_adapter EXPORT hyphosTargets)
  install(TARGETS hyphos-cosim hyphos-cosim-worker hyphos-cosim-robot hyphos-cosim-outside
    hyphos-cosim-emulate
    EXPORT hyphosCosimTargets RUNTIME DESTINATION ${cosim_dir} COMPONENT ${tools})
  install(FILES cosim/adapter/cosim_adapter.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cosim/adapter
    COMPONENT ${devel})
  install(EXPORT hyphosCosimTargets NAMESPACE hyphos:: DESTINATION ${config_dir} COMPONENT ${tools})
endif()
install(EXPORT hyphosTargets NAMESPACE hyphos:: DESTINATION ${config_dir} COMPONENT ${devel})
install(DIRECTORY include/hyphos proto/include/hyphos testing/include/hyphos
    clients/tros/include/hyphos
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${devel}
  FILES_MATCHING PATTERN *.hpp PATTERN *.h)
install(FILES clients/c/include/hyphos_c.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT ${devel})
install(DIRECTORY ${PROJECT_BINARY_DIR}/proto/hyphos_msgs_generated/hyphos COMPONENT ${devel}
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.pb.h)
install(DIRECTORY proto/hyphos/msgs proto/hyphos/ros COMPONENT ${devel}
  DESTINATION ${HYPHOS_INSTALL_PROTO_DIR}/hyphos FILES_MATCHING PATTERN *.proto)

configure_package_config_file(cmake/hyphosConfig.cmake.in ${PROJECT_BINARY_DIR}/hyphosConfig.cmake
  INSTALL_DESTINATION ${config_dir} PATH_VARS HYPHOS_INSTALL_PROTO_DIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hyphosConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hyphosConfig.cmake ${PROJECT_BINARY_DIR}/hyphosConfigVersion.cmake
  cmake/hyphos_proto.cmake DESTINATION ${config_dir} COMPONENT ${devel})

# hyphos_pkg_config(<name> ABOUT <text> LIBRARY <name> [REQUIRES <module>...] [FLAGS <flag>...])
# The paths in the file are relative to the file, because an installed tree may be moved.
file(RELATIVE_PATH pkgconfig_prefix /${pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" pkgconfig_prefix ${pkgconfig_prefix})
function(hyphos_pkg_config name)
  cmake_parse_arguments(PC "" "ABOUT;LIBRARY" "REQUIRES;FLAGS" ${ARGN})
  list(JOIN PC_REQUIRES ", " requires)
  list(JOIN PC_FLAGS " " flags)
  configure_file(cmake/hyphos.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc DESTINATION ${pkgconfig_dir}
    COMPONENT ${devel})
endfunction()
hyphos_pkg_config(hyphos ABOUT "Robot operating system in C++20" LIBRARY hyphos FLAGS -pthread)
hyphos_pkg_config(hyphos_c ABOUT "C interface of the robot operating system Hyphos" LIBRARY hyphos_c)
hyphos_pkg_config(hyphos_msgs ABOUT "Standard messages of the robot operating system Hyphos"
  LIBRARY hyphos_msgs REQUIRES protobuf)
if(HYPHOS_BUILD_GATEWAY)
  hyphos_pkg_config(hyphos_gateway ABOUT "Gateways of Hyphos to ROS 1, ROS 2, rosbridge and Unity"
    LIBRARY hyphos_gateway REQUIRES hyphos)
endif()
