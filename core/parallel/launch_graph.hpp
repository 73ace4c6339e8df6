// SPDX-License-Identifier: Apache-2.0
// A launch graph records a fixed sequence of kernels once and then launches the sequence as a
// whole. On CUDA a kernel of a graph costs about 1.5 us instead of 5; elsewhere the kernels are
// launched one by one.
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/base/names.hpp>

#include <exception>
#include <functional>
#include <utility>
#include <vector>

namespace ossatura {

/// The state of the recording.
enum class LaunchGraphState {
  unused,  ///< nothing was recorded: not yet, switched off, or the backend has no graphs
  replays, ///< the recording is in use
  failed   ///< it could not be recorded: every run launches the kernels one by one
};

constexpr Names<LaunchGraphState> names_of(LaunchGraphState) {
  return {{LaunchGraphState::unused, "unused"},
          {LaunchGraphState::replays, "replays"},
          {LaunchGraphState::failed, "failed"}};
}

/// Runs of one sequence. `body` launches kernels on `exec` and does nothing else that matters: it
/// allocates nothing, copies nothing, does not fence, and its launches are the same every time,
/// with arrays that outlive the graph. It may send arrays to other processes in ways that can be
/// recorded (DeviceComm::can_be_recorded), if these record and run the same: then agree(recorded)
/// tells whether all of them could, and what was recorded is dropped where it is false. Not
/// copyable; one instance for each body.
template<class Exec>
class LaunchGraph {
public:
  explicit LaunchGraph(bool = true, const std::function<bool(bool)>& = {}) {}
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;

  /// Launches the kernels of `body`, and returns whether body() was called for it; a replay does
  /// not call it. Does not fence.
  template<class Body>
  bool run(const Exec&, const Body& body) {
    body();
    return true;
  }
  LaunchGraphState state() const { return LaunchGraphState::unused; }
};

#if defined(KOKKOS_ENABLE_CUDA)
template<>
class LaunchGraph<Cuda> {
public:
  explicit LaunchGraph(bool enabled = true, std::function<bool(bool)> agree = {})
      : enabled_(enabled)
      , agree_(std::move(agree)) {}
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;
  ~LaunchGraph() {
    if (graph_)
      cudaGraphExecDestroy(graph_);
  }

  template<class Body>
  bool run(const Cuda& exec, const Body& body) {
    require_launches("ossatura::launch_graph"); // errors of the recording are forgotten below
    if (state_ == LaunchGraphState::replays && exec.cuda_stream() == stream_) {
      if (cudaGraphLaunch(graph_, stream_) == cudaSuccess)
        return false;
      (void)cudaGetLastError();
      state_ = LaunchGraphState::failed;
    }
    // The first run is launched: Kokkos may set up a kernel at its first launch, and that must not
    // be recorded.
    if (enabled_ && state_ == LaunchGraphState::unused && runs_++ > 0) {
      const bool recorded = record(exec, body);
      const bool is_used = agree_ ? agree_(recorded) : recorded;
      state_ = is_used ? LaunchGraphState::replays : LaunchGraphState::failed;
      if (state_ == LaunchGraphState::replays && cudaGraphLaunch(graph_, stream_) == cudaSuccess)
        return true;
      (void)cudaGetLastError();
      state_ = LaunchGraphState::failed;
    }
    body();
    return true;
  }
  LaunchGraphState state() const { return state_; }

private:
  /// Calls body() with the stream recording; nothing is computed.
  template<class Body>
  bool record(const Cuda& exec, const Body& body) {
    stream_ = exec.cuda_stream();
    if (stream_ == nullptr || stream_ == cudaStreamLegacy || stream_ == cudaStreamPerThread)
      return false; // the legacy default stream cannot be recorded
    if (cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal) != cudaSuccess) {
      (void)cudaGetLastError();
      return false;
    }
    bool recorded = true;
    try {
      body();
    } catch (const std::exception&) {
      recorded = false; // Kokkos reports a launch that cannot be recorded
    }
    recorded = recorded && cudaPeekAtLastError() == cudaSuccess; // no kernel is missing
    cudaGraph_t graph = nullptr;
    recorded = cudaStreamEndCapture(stream_, &graph) == cudaSuccess && recorded && graph;
    recorded = recorded && has_no_copies(graph);
    recorded = recorded && cudaGraphInstantiateWithFlags(&graph_, graph, 0) == cudaSuccess;
    if (graph)
      cudaGraphDestroy(graph);
    (void)cudaGetLastError();
    return recorded;
  }

  /// Kokkos passes the arguments of large functors through a staging buffer, which would be copied
  /// as it is when the graph runs: such a recording is refused. NCCL adds events, and calls of the
  /// host where devices are not linked.
  bool has_no_copies(cudaGraph_t graph) const {
    std::size_t count = 0;
    if (cudaGraphGetNodes(graph, nullptr, &count) != cudaSuccess || count == 0)
      return false;
    std::vector<cudaGraphNode_t> nodes(count);
    if (cudaGraphGetNodes(graph, nodes.data(), &count) != cudaSuccess)
      return false;
    for (const cudaGraphNode_t& node : nodes) {
      cudaGraphNodeType type;
      if (cudaGraphNodeGetType(node, &type) != cudaSuccess)
        return false;
      const bool communicates = type == cudaGraphNodeTypeEventRecord ||
                                type == cudaGraphNodeTypeWaitEvent ||
                                type == cudaGraphNodeTypeEmpty || type == cudaGraphNodeTypeHost;
      if (type != cudaGraphNodeTypeKernel && !(agree_ && communicates))
        return false;
    }
    return true;
  }

  bool enabled_;
  std::function<bool(bool)> agree_; ///< of processes that run it together
  int runs_ = 0;
  LaunchGraphState state_ = LaunchGraphState::unused;
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
};
#endif

} // namespace ossatura
