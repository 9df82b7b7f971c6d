// How tests start ranks: one row for every MPI library of this build, made by cmake/mpi.cmake.
#pragma once

#include <ostream>
#include <string>
#include <vector>

struct MpiLaunch {
  std::string name;
  std::string scenarios;         // starts four ranks of scenarios.cpp
  std::string elastic_launcher;  // leaves the others alone when a rank dies
  std::string elastic;           // the program of elastic_scenarios.cpp
};

inline std::ostream& operator<<(std::ostream& out, const MpiLaunch& launch) { return out << launch.name; }

inline std::vector<MpiLaunch> mpi_launches() { return {ISOBAR_MPI_WORLDS}; }
