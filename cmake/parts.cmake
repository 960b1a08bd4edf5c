# The parts above the core. The core needs oneTBB, ZeroMQ, protobuf and yaml-cpp. Each part finds its
# own packages, so a build without a part does not need them. packages.txt has the same sections.
option(HYPHOS_BUILD_RECORD "Build the recorder (needs zstd, lz4, libdeflate)" ON)
option(HYPHOS_BUILD_GATEWAY "Build the gateways (need Boost, OpenSSL, pugixml, zlib, simdjson)" ON)
option(HYPHOS_BUILD_BUILTIN "Build the nodes that come with Hyphos (need pugixml, libjpeg-turbo, libpng)" ON)
option(HYPHOS_BUILD_VIEW "Build the viewer, if its packages are installed (needs the recorder)" ON)
option(HYPHOS_BUILD_COSIM "Build the co-simulator (needs the recorder)" ON)
option(HYPHOS_BUILD_LAB "Build the simulated network and, with Python, the laboratory" ON)
option(HYPHOS_BUILD_SIMULATORS "Build the adapters of the simulators that are installed" ON)
option(HYPHOS_BUILD_DEBS "Install into Debian packages (packaging/debs)" OFF)

# hyphos_part_needs(<part> <reason> <part>...): an error if a built part needs one that is off.
function(hyphos_part_needs part reason)
  if(NOT HYPHOS_BUILD_${part})
    return()
  endif()
  foreach(needed ${ARGN})
    if(NOT HYPHOS_BUILD_${needed})
      message(FATAL_ERROR "HYPHOS_BUILD_${part}=ON needs HYPHOS_BUILD_${needed}=ON: ${reason}. "
        "Set HYPHOS_BUILD_${needed}=ON or HYPHOS_BUILD_${part}=OFF")
    endif()
  endforeach()
endfunction()

hyphos_part_needs(VIEW "the viewer reads recordings" RECORD)
hyphos_part_needs(COSIM "the co-simulator writes recordings" RECORD)
hyphos_part_needs(PYTHON "the Python module contains its functions" RECORD)
hyphos_part_needs(DEBS "there are packages of them" RECORD GATEWAY BUILTIN COSIM LAB PYTHON)
hyphos_part_needs(PEERS "the baselines are programs of the laboratory" LAB)
hyphos_part_needs(BENCH "the benchmarks measure every part" RECORD GATEWAY COSIM LAB)
