//===- MinCut.h - Minimum cuts of flow networks -----------------*- C++ -*-===//

#ifndef GRADC_DIFFERENTIATE_MINCUT_H
#define GRADC_DIFFERENTIATE_MINCUT_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace mlir::grad {

/// A network of nodes and directed edges with capacities.
class FlowNetwork {
public:
  /// A capacity that no cut exceeds.
  static constexpr int64_t kInfinite = int64_t(1) << 60;

  unsigned addNode();
  void addEdge(unsigned from, unsigned to, int64_t capacity);

  /// The nodes on the side of `source` of a minimum cut between `source` and
  /// `sink`, as few as there can be. Uses up the capacities.
  llvm::BitVector cut(unsigned source, unsigned sink);

private:
  struct Edge {
    unsigned to;
    int64_t capacity;
  };

  bool findLevels(unsigned source, unsigned sink);
  void saturate(unsigned source, unsigned sink);

  /// Edge 2 k + 1 is the reverse of edge 2 k.
  std::vector<Edge> edges;
  std::vector<llvm::SmallVector<unsigned, 4>> outgoing;
  /// Distance of each node from the source, -1 where there is no way, and the
  /// first outgoing edge of it that may still be of use.
  std::vector<int> levels;
  std::vector<unsigned> next;
};

} // namespace mlir::grad

#endif // GRADC_DIFFERENTIATE_MINCUT_H
