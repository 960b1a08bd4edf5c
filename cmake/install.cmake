# The result of `cmake --install`: library, headers, messages, find_package(hyphos) and hyphos-host.
# The component `python` is the wheel. The other rules and the wheel exclude each other.
include(CMakePackageConfigHelpers)

set(HYPHOS_INSTALL_PROTO_DIR ${CMAKE_INSTALL_DATADIR}/hyphos/proto)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hyphos)

install(TARGETS hyphos hyphos_msgs hyphos_c EXPORT hyphosTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel)
if(HYPHOS_BUILD_GATEWAY)
  install(TARGETS hyphos_gateway EXPORT hyphosTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel)
  install(FILES gateway/include/hyphos/gateway.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hyphos
    COMPONENT devel)
endif()
if(HYPHOS_BUILD_COSIM)
  install(TARGETS hyphos_cosim_adapter hyphos-cosim hyphos-cosim-worker hyphos-cosim-emulate
    EXPORT hyphosTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT devel)
  install(FILES cosim/adapter/cosim_adapter.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cosim/adapter
    COMPONENT devel)
endif()
install(EXPORT hyphosTargets NAMESPACE hyphos:: DESTINATION ${config_dir} COMPONENT devel)
install(DIRECTORY include/hyphos DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel
  FILES_MATCHING PATTERN *.hpp)
install(FILES clients/c/include/hyphos_c.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel)
install(DIRECTORY ${PROJECT_BINARY_DIR}/proto/hyphos_msgs_generated/hyphos COMPONENT devel
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.pb.h)
install(DIRECTORY proto/hyphos/msgs proto/hyphos/ros COMPONENT devel
  DESTINATION ${HYPHOS_INSTALL_PROTO_DIR}/hyphos FILES_MATCHING PATTERN *.proto)

configure_package_config_file(cmake/hyphosConfig.cmake.in ${PROJECT_BINARY_DIR}/hyphosConfig.cmake
  INSTALL_DESTINATION ${config_dir} PATH_VARS HYPHOS_INSTALL_PROTO_DIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hyphosConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hyphosConfig.cmake ${PROJECT_BINARY_DIR}/hyphosConfigVersion.cmake
  cmake/hyphos_proto.cmake DESTINATION ${config_dir} COMPONENT devel)
