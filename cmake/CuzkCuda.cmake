# SPDX-License-Identifier: Apache-2.0
# The cuda backend, when CUZK_CUDA asks for it. Adds its sources to cuzk_objects, defines
# CUZK_HAVE_CUDA there, and sets cuda_libraries for what links them.

option(CUZK_FAULTS "For tests of the cuda backend: a test decides which CUDA calls fail" OFF)

set(cuda_libraries)
if(NOT CUZK_CUDA)
    return()
endif()

if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc) # where NVIDIA's packages put it
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
    if(CUZK_CUDA STREQUAL AUTO)
        message(STATUS "No nvcc: building without the cuda backend")
        return()
    endif()
    message(FATAL_ERROR "CUZK_CUDA=${CUZK_CUDA}, but no nvcc was found (set CUDACXX)")
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES) # machine code for what we measure on, PTX for the rest
    set(CMAKE_CUDA_ARCHITECTURES 80-virtual 90-real)
endif()
enable_language(CUDA)
set(CMAKE_CUDA_IMPLICIT_LINK_LIBRARIES "") # no C++ library: what is needed is named below
find_package(CUDAToolkit REQUIRED)

file(GLOB cuda_sources CONFIGURE_DEPENDS src/backend/cuda/*.c src/backend/cuda/*.cu)
target_sources(cuzk_objects PRIVATE ${cuda_sources})
target_compile_definitions(cuzk_objects PRIVATE CUZK_HAVE_CUDA=1)
if(CUZK_FAULTS)
    add_compile_definitions(CUZK_FAULTS=1) # the tests' too
endif()
target_include_directories(cuzk_objects SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
set_target_properties(cuzk_objects PROPERTIES
    CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}"
    CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_VISIBILITY_PRESET hidden)
# CUB includes <iostream> and doesn't use it; its start-up code would need the C++ library.
target_compile_options(cuzk_objects PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:
    -Xcompiler=-fno-exceptions,-fno-rtti,-fno-threadsafe-statics -D_GLIBCXX_IOSTREAM>)
set(cuda_libraries CUDA::cudart_static)
