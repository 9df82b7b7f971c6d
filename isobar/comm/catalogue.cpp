// The tables of this room: algorithms for collectives.
#include "isobar/comm/schedule.hpp"

namespace isobar::comm {

extern const Row<Algorithm> all_gather_doubling;            // halving.cpp
extern const Row<Algorithm> all_gather_ring;                // ring.cpp
extern const Row<Algorithm> all_reduce_halving_doubling;    // halving.cpp
extern const Row<Algorithm> all_reduce_hierarchical;        // hierarchical.cpp
extern const Row<Algorithm> all_reduce_pipelined_ring;      // pipelined_ring.cpp
extern const Row<Algorithm> all_reduce_recursive_doubling;  // recursive_doubling.cpp
extern const Row<Algorithm> all_reduce_reproducible;        // reproducible.cpp
extern const Row<Algorithm> all_reduce_ring;                // ring.cpp
extern const Row<Algorithm> all_reduce_tree;                // tree.cpp
extern const Row<Algorithm> broadcast_pipelined_chain;      // pipelined_chain.cpp
extern const Row<Algorithm> broadcast_scatter_gather;       // scatter_gather.cpp
extern const Row<Algorithm> broadcast_tree;                 // tree.cpp
extern const Row<Algorithm> reduce_scatter_halving;         // halving.cpp
extern const Row<Algorithm> reduce_scatter_ring;            // ring.cpp

Table<Row<Algorithm>> all_reduces() {
  static constexpr const Row<Algorithm>* all[] = {&all_reduce_halving_doubling,
                                                  &all_reduce_hierarchical,
                                                  &all_reduce_pipelined_ring,
                                                  &all_reduce_recursive_doubling,
                                                  &all_reduce_reproducible,
                                                  &all_reduce_ring,
                                                  &all_reduce_tree};
  return all;
}

Table<Row<Algorithm>> reduce_scatters() {
  static constexpr const Row<Algorithm>* all[] = {&reduce_scatter_halving, &reduce_scatter_ring};
  return all;
}

Table<Row<Algorithm>> all_gathers() {
  static constexpr const Row<Algorithm>* all[] = {&all_gather_doubling, &all_gather_ring};
  return all;
}

Table<Row<Algorithm>> broadcasts() {
  static constexpr const Row<Algorithm>* all[] = {&broadcast_pipelined_chain, &broadcast_scatter_gather,
                                                  &broadcast_tree};
  return all;
}

}  // namespace isobar::comm
