//===- MinCut.cpp - Minimum cuts of flow networks -------------------------===//
//
// Dinic's algorithm: as long as there is a way from the source to the sink,
// find the distances of all nodes and push flow along shortest ways until none
// of them is left. The networks of residuals are shallow: nearly all flow goes
// through a value or two, and a few rounds are enough.
//
//===----------------------------------------------------------------------===//

#include "Differentiate/MinCut.h"

#include <algorithm>

using namespace mlir::grad;

unsigned FlowNetwork::addNode() {
  outgoing.emplace_back();
  return outgoing.size() - 1;
}

void FlowNetwork::addEdge(unsigned from, unsigned to, int64_t capacity) {
  outgoing[from].push_back(edges.size());
  edges.push_back({to, capacity});
  outgoing[to].push_back(edges.size());
  edges.push_back({from, 0});
}

bool FlowNetwork::findLevels(unsigned source, unsigned sink) {
  levels.assign(outgoing.size(), -1);
  levels[source] = 0;
  std::vector<unsigned> queue = {source};
  for (size_t i = 0; i < queue.size(); ++i)
    for (unsigned edge : outgoing[queue[i]]) {
      auto [to, capacity] = edges[edge];
      if (capacity == 0 || levels[to] >= 0)
        continue;
      levels[to] = levels[queue[i]] + 1;
      queue.push_back(to);
    }
  return levels[sink] >= 0;
}

void FlowNetwork::saturate(unsigned source, unsigned sink) {
  next.assign(outgoing.size(), 0);
  std::vector<unsigned> path;
  unsigned node = source;
  while (true) {
    if (node == sink) {
      int64_t flow = kInfinite;
      for (unsigned edge : path)
        flow = std::min(flow, edges[edge].capacity);
      for (unsigned edge : path) {
        edges[edge].capacity -= flow;
        edges[edge ^ 1].capacity += flow;
      }
      // Go on from the first edge that is full now.
      size_t full = 0;
      while (edges[path[full]].capacity != 0)
        ++full;
      node = edges[path[full] ^ 1].to;
      path.resize(full);
      continue;
    }
    bool advanced = false;
    for (unsigned &at = next[node]; at < outgoing[node].size(); ++at) {
      unsigned edge = outgoing[node][at];
      unsigned to = edges[edge].to;
      if (edges[edge].capacity == 0 || levels[to] != levels[node] + 1)
        continue;
      path.push_back(edge);
      node = to;
      advanced = true;
      break;
    }
    if (advanced)
      continue;
    if (path.empty())
      return;
    // A dead end: no way leads through this node any more.
    node = edges[path.back() ^ 1].to;
    path.pop_back();
    ++next[node];
  }
}

llvm::BitVector FlowNetwork::cut(unsigned source, unsigned sink) {
  while (findLevels(source, sink))
    saturate(source, sink);
  llvm::BitVector reached(outgoing.size());
  for (unsigned node = 0; node < outgoing.size(); ++node)
    if (levels[node] >= 0)
      reached.set(node);
  return reached;
}
