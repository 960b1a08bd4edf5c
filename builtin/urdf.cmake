# The reader of robot models, for the built-in nodes and the viewer. Needs pugixml.
add_library(hyphos_urdf STATIC ${CMAKE_CURRENT_LIST_DIR}/urdf.cpp)
target_include_directories(hyphos_urdf PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
target_link_libraries(hyphos_urdf PUBLIC hyphos PRIVATE hyphos_flags PkgConfig::PUGIXML)
set_target_properties(hyphos_urdf PROPERTIES POSITION_INDEPENDENT_CODE ON)
