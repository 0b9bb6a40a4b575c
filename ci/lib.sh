# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
#
# Sourced by the scripts of ci/: the root, the number of jobs, ccache when there is one.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
jobs=$(nproc)
# Where the CUDA toolkit installs itself, if it is there and in nobody's PATH.
[ -x /usr/local/cuda/bin/nvcc ] && PATH=$PATH:/usr/local/cuda/bin
export CTEST_OUTPUT_ON_FAILURE=1 CTEST_PARALLEL_LEVEL=$jobs CMAKE_BUILD_PARALLEL_LEVEL=$jobs

if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  # A clone in another folder finds what this one compiled.
  export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
fi

# On a terminal only, and not with NO_COLOR: a heading for each step.
step() {
  if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    printf '\033[1m== %s\033[0m\n' "$*"
  else
    printf '== %s\n' "$*"
  fi
}

fail() {
  echo "ci/$(basename "$0"): $*" >&2
  exit 1
}

# configure_and_build PRESET [target…]: quiet when all is well and nothing is to do.
configure_and_build() {
  local preset=$1 log
  shift
  log=$(mktemp)
  if ! cmake --preset "$preset" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    fail "cmake --preset $preset failed"
  fi
  rm -f "$log"
  cmake --build --preset "$preset" ${1:+--target "$@"}
}
