# SPDX-License-Identifier: Apache-2.0
# Copyright the kvconform authors
#
# Where the real LMCache lives on this machine. Sourced by install and start.

lmcache_version=0.4.5
# One installation a version and user, outside every clone.
lmcache_venv=${XDG_CACHE_HOME:-$HOME/.cache}/kvconform/lmcache-$lmcache_version

# Pip writes the package's metadata last, after all that it depends on: who finds it finds the whole.
lmcache_is_installed() {
  [ -x "$lmcache_venv/bin/python" ] &&
    [ "$("$lmcache_venv/bin/python" -c \
      'import importlib.metadata as m; print(m.version("lmcache"))' 2>/dev/null)" = "$lmcache_version" ]
}

# The last release with a server of blend V1. Its package alone, in a folder that comes first on Python's
# path; all that it needs is in the environment of the release above.
lmcache_v1_version=0.4.2
lmcache_v1_folder=${XDG_CACHE_HOME:-$HOME/.cache}/kvconform/lmcache-$lmcache_v1_version

lmcache_v1_is_installed() {
  [ -e "$lmcache_v1_folder/lmcache-$lmcache_v1_version.dist-info/RECORD" ]
}
