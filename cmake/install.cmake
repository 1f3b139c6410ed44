# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` lays down: headers, both libraries, the package descriptions for CMake and
# pkg-config, and the library under the name that bindings of the ABI look for.
include(CMakePackageConfigHelpers)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/boxwood")
install(TARGETS boxwood boxwood_static EXPORT boxwoodTargets COMPONENT boxwood)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        COMPONENT boxwood FILES_MATCHING PATTERN "*.h")
install(EXPORT boxwoodTargets NAMESPACE boxwood:: DESTINATION "${package_folder}" COMPONENT boxwood)

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/boxwoodConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/boxwoodConfig.cmake" INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/boxwoodConfigVersion.cmake"
    COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/boxwoodConfig.cmake"
              "${PROJECT_BINARY_DIR}/boxwoodConfigVersion.cmake"
        DESTINATION "${package_folder}" COMPONENT boxwood)

# How to climb from the folder of boxwood.pc back to the prefix.
file(RELATIVE_PATH BW_PREFIX_FROM_PKGCONFIG "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" BW_PREFIX_FROM_PKGCONFIG "${BW_PREFIX_FROM_PKGCONFIG}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/boxwood.pc.in" "${PROJECT_BINARY_DIR}/boxwood.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/boxwood.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
        COMPONENT boxwood)

if(UNIX)
    set(alias_made "${PROJECT_BINARY_DIR}/alias/${alias}")
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/alias")
    set(soname "libboxwood${CMAKE_SHARED_LIBRARY_SUFFIX}")
    if(NOT APPLE)
        string(APPEND soname ".${PROJECT_VERSION_MAJOR}")
    endif()
    file(CREATE_LINK "../../${soname}" "${alias_made}" SYMBOLIC)
    file(CREATE_LINK "../../${soname}" "${PROJECT_BINARY_DIR}/alias/${soname}" SYMBOLIC)
    install(FILES "${alias_made}" "${PROJECT_BINARY_DIR}/alias/${soname}"
            DESTINATION "${CMAKE_INSTALL_LIBDIR}/boxwood/objectbox" COMPONENT boxwood)
endif()
