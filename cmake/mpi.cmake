# isobar/comm_mpi/ (${mpi_sources}) is built once for every MPI library: isobar_comm_mpi_mpich and _openmpi. What callers
# include of it shows no MPI, so that they are built once and linked with either. tests/comm_mpi/*_test.cpp become
# test_comm_mpi_<mpi>, which CTest runs under that library's launcher with 1, 2, 3 and 4 ranks.
function(isobar_mpi name library interface)
  set(target isobar_comm_mpi_${name})
  add_library(${target} STATIC ${mpi_sources})
  add_library(isobar::comm_mpi_${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME comm_mpi_${name})
  target_compile_features(${target} PUBLIC cxx_std_20)
  # The bindings for C++ that Open MPI's header would bring are obsolete.
  target_compile_definitions(${target} PRIVATE ISOBAR_MPI_LIBRARY="${library}" OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PUBLIC isobar_comm PRIVATE ${interface} $<BUILD_INTERFACE:isobar_flags>)
  install(TARGETS ${target} EXPORT isobar ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

isobar_mpi(mpich "MPICH" PkgConfig::MPICH)
isobar_mpi(openmpi "Open MPI" PkgConfig::OPENMPI)

if(ISOBAR_TESTS)
  file(GLOB mpi_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/comm_mpi/*_test.cpp)
  function(isobar_mpi_tests name)
    set(target test_comm_mpi_${name})
    add_executable(${target} ${PROJECT_SOURCE_DIR}/tests/comm_mpi/main.cpp ${mpi_tests})
    target_link_libraries(${target} PRIVATE isobar_comm_mpi_${name} isobar_flags GTest::gtest)
    foreach(ranks 1 2 3 4)
      add_test(NAME mpi.${name}.${ranks} COMMAND ${ARGN} -n ${ranks} $<TARGET_FILE:${target}> ${ranks})
      set_tests_properties(mpi.${name}.${ranks} PROPERTIES TIMEOUT 120 PROCESSORS 2)
    endforeach()
  endfunction()
  find_program(ISOBAR_MPICH_LAUNCHER NAMES mpiexec.mpich mpiexec.hydra REQUIRED)
  find_program(ISOBAR_OPENMPI_LAUNCHER NAMES mpirun.openmpi REQUIRED)
  isobar_mpi_tests(mpich ${ISOBAR_MPICH_LAUNCHER})
  isobar_mpi_tests(openmpi ${ISOBAR_OPENMPI_LAUNCHER} --allow-run-as-root --oversubscribe --bind-to none)
endif()
