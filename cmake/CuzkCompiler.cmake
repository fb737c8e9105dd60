# SPDX-License-Identifier: Apache-2.0
# How all C of this project is compiled.

option(CUZK_WERROR "Treat compiler warnings as errors" OFF)
set(CUZK_DEBUG_FLAGS "-O2 -g" CACHE STRING "Optimization of RelWithDebInfo builds")
set(CUZK_SANITIZE "" CACHE STRING "Sanitizers for everything, e.g. address,undefined")

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG") # never -march=native: the CPU is asked at run time
set(CMAKE_C_FLAGS_RELWITHDEBINFO ${CUZK_DEBUG_FLAGS})

if(CUZK_SANITIZE)
    add_compile_options(-fsanitize=${CUZK_SANITIZE} -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${CUZK_SANITIZE})
endif()

function(cuzk_compile_as_ours target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 17 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden LINKER_LANGUAGE C)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:
        -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wvla -Wwrite-strings
        -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wcast-qual
        $<$<BOOL:${CUZK_WERROR}>:-Werror>>)
endfunction()
