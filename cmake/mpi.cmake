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
  target_link_libraries(${target} PUBLIC isobar_comm isobar_control PRIVATE ${interface} $<BUILD_INTERFACE:isobar_flags>)
  install(TARGETS ${target} EXPORT isobar ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

isobar_mpi(mpich "MPICH" PkgConfig::MPICH)
isobar_mpi(openmpi "Open MPI" PkgConfig::OPENMPI)

if(ISOBAR_TESTS)
  file(GLOB mpi_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/comm_mpi/*_test.cpp)
  # What runs without a launcher: the witness, and worlds that the tests start themselves, whose ranks fail and die.
  set(without_launcher ${mpi_tests})
  list(FILTER without_launcher INCLUDE REGEX "/(elastic|faults|lifeline_service|mapped_memory_deaths|witness_process)_test")
  list(REMOVE_ITEM mpi_tests ${without_launcher})
  add_executable(test_comm_mpi_faults ${without_launcher})
  target_link_libraries(test_comm_mpi_faults PRIVATE isobar_comm_mpi_mpich isobar_flags GTest::gtest_main)
  # What makes a launcher leave the others alone when a rank dies.
  set(survives_deaths_mpich "-disable-auto-cleanup")
  set(survives_deaths_openmpi "--enable-recovery -x ISOBAR_SUPERVISOR -x ISOBAR_LAUNCH")
  function(isobar_mpi_tests name launcher)
    add_executable(test_comm_mpi_${name} ${PROJECT_SOURCE_DIR}/tests/comm_mpi/main.cpp ${mpi_tests})
    target_link_libraries(test_comm_mpi_${name} PRIVATE isobar_comm_mpi_${name} isobar_flags GTest::gtest)
    foreach(ranks 1 2 3 4)
      add_test(NAME mpi.${name}.${ranks}
        COMMAND ${launcher} ${ARGN} -n ${ranks} $<TARGET_FILE:test_comm_mpi_${name}> ${ranks})
      set_tests_properties(mpi.${name}.${ranks} PROPERTIES TIMEOUT 120 PROCESSORS 2)
    endforeach()
    # Two ranks on each of two nodes, as far as they know.
    add_test(NAME mpi.${name}.2x2 COMMAND ${launcher} ${ARGN} -n 4 $<TARGET_FILE:test_comm_mpi_${name}> 4)
    set_tests_properties(mpi.${name}.2x2 PROPERTIES TIMEOUT 120 PROCESSORS 2 ENVIRONMENT ISOBAR_RANKS_PER_NODE=2)
    add_executable(mpi_scenarios_${name} ${PROJECT_SOURCE_DIR}/tests/comm_mpi/scenarios.cpp)
    target_link_libraries(mpi_scenarios_${name} PRIVATE isobar_comm_mpi_${name} isobar_flags)
    add_dependencies(test_comm_mpi_faults mpi_scenarios_${name})
    add_executable(mpi_elastic_${name} ${PROJECT_SOURCE_DIR}/tests/comm_mpi/elastic_scenarios.cpp)
    target_link_libraries(mpi_elastic_${name} PRIVATE isobar_comm_mpi_${name} isobar_flags)
    add_dependencies(test_comm_mpi_faults mpi_elastic_${name})
    list(JOIN ARGN " " options)
    target_compile_definitions(test_comm_mpi_faults PRIVATE
      ISOBAR_SCENARIOS_${name}="${launcher} ${options} -n 4 $<TARGET_FILE:mpi_scenarios_${name}>"
      ISOBAR_ELASTIC_LAUNCHER_${name}="${launcher} ${options} ${survives_deaths_${name}}"
      ISOBAR_ELASTIC_${name}="$<TARGET_FILE:mpi_elastic_${name}>")
  endfunction()
  find_program(ISOBAR_MPICH_LAUNCHER NAMES mpiexec.mpich mpiexec.hydra REQUIRED)
  find_program(ISOBAR_OPENMPI_LAUNCHER NAMES mpirun.openmpi REQUIRED)
  isobar_mpi_tests(mpich ${ISOBAR_MPICH_LAUNCHER})
  isobar_mpi_tests(openmpi ${ISOBAR_OPENMPI_LAUNCHER} --allow-run-as-root --oversubscribe --bind-to none)
  gtest_discover_tests(test_comm_mpi_faults TEST_PREFIX mpi.faults. DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 120 PROCESSORS 2)
endif()
