// SPDX-License-Identifier: Apache-2.0
// Copyright the kvconform authors
//
// A GPU that is none, for tests: the calls of the CUDA runtime that the CUDA device makes, on
// shared memory and threads. A program linked with it has kvserver's and kvconform's own code, with
// this in the place of libcudart and the kernels' twin in the place of the kernels, so two
// processes can share memory and events as CUDA IPC lets them, where no GPU is.
//
// It is stricter than a GPU where CUDA's documentation leaves room, so that what passes here does
// not hang there:
//   - device addresses cannot be read or written by the host, and a kernel's or a copy's bounds are
//     looked at;
//   - the default stream, and CUDA calls in host functions, end the process;
//   - the usable GPU is number 1, so a thread that has not entered it fails;
//   - cudaFree, cudaFreeHost, cudaHostUnregister and cudaIpcCloseMemHandle wait for all streams;
//   - copies from or to memory that is not pinned stop the caller as CUDA says they do;
//   - memory and events of one's own process do not open, nor do those of a process that ended.
// What it cannot tell: speed, races within a kernel, and what CUDA really answers.
//
// KVC_FAKE_GPU names the GPU, for programs that are to share one (default "0"); empty: there is no
// driver. KVC_FAKE_GPU_FAULTS: see add_faults.
#pragma once

#include <string>

namespace kvc::fake_gpu {

// "cudaMemcpyAsync@3=2,transfer_kernel@1=700": the third call from now of the one answers error 2,
// the next of the other 700. 700 and 719 are sticky: every later call answers them, what is queued
// never runs, host functions neither. A kernel meets a sticky one when it runs, and not when it is
// launched. Throws std::invalid_argument.
void add_faults(const std::string& text);
// As if a new process began: no fault, no sticky error.
void forget_faults();

}  // namespace kvc::fake_gpu
