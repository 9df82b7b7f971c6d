# The programs. bin/isobar (${cli_sources}) is linked once for every MPI, from the same objects: a launcher of one MPI
# cannot start a program of another. The first MPI of isobar_mpis gives bin/isobar, Open MPI as a second one gives
# bin/isobar-openmpi.
add_library(isobar_cli OBJECT ${cli_sources})
target_compile_options(isobar_cli PRIVATE ${cold})  # only options and messages; rooms do the work
target_link_libraries(isobar_cli PUBLIC isobar_run isobar_bench isobar_verbs isobar_flags nlohmann_json::nlohmann_json
  OpenMP::OpenMP_CXX)
isobar_use_headers(isobar_cli verbs)
isobar_units(isobar_cli 6)

set(isobar_programs isobar)
add_executable(isobar)
list(GET isobar_comm_mpis 0 first)
target_link_libraries(isobar PRIVATE isobar_cli ${first})
set(other ${isobar_comm_mpis})
list(POP_FRONT other)
if(other)
  add_executable(isobar_openmpi)
  target_link_libraries(isobar_openmpi PRIVATE isobar_cli ${other})
  set_target_properties(isobar_openmpi PROPERTIES OUTPUT_NAME isobar-openmpi)
  list(APPEND isobar_programs isobar_openmpi)
endif()

# SimGrid exports the symbols of MPI, so the simulator (${sim_cli_sources}) is a separate program that links no MPI.
if(SIMGRID_FOUND)
  add_library(isobar_sim_cli OBJECT ${sim_cli_sources})
  target_compile_definitions(isobar_sim_cli PRIVATE ISOBAR_VERSION="${PROJECT_VERSION}")
  target_compile_options(isobar_sim_cli PRIVATE ${cold})
  target_link_libraries(isobar_sim_cli PUBLIC isobar_forecast isobar_verbs isobar_flags nlohmann_json::nlohmann_json)
  isobar_use_headers(isobar_sim_cli verbs)
  isobar_units(isobar_sim_cli)
  add_executable(isobar_simulator)
  target_link_libraries(isobar_simulator PRIVATE isobar_sim_cli)
  set_target_properties(isobar_simulator PROPERTIES OUTPUT_NAME isobar-sim)
  list(APPEND isobar_programs isobar_simulator)
endif()
set_target_properties(${isobar_programs} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# The program with every part missing, for the tests: the stand-ins for the parts are linked before the rooms.
if(ISOBAR_TESTS)
  add_executable(isobar_bare)
  foreach(absent ${left_out})
    if(absent MATCHES "_absent$")
      target_sources(isobar_bare PRIVATE ${PROJECT_SOURCE_DIR}/isobar/${absent}.cpp)
    endif()
  endforeach()
  target_link_libraries(isobar_bare PRIVATE isobar_cli isobar_comm_mpi_none)
  set_target_properties(isobar_bare PROPERTIES OUTPUT_NAME isobar-bare)
endif()
