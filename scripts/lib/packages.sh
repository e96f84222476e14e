# shellcheck shell=bash
# Sourced: installs Debian packages by name where they are missing, or says which to install.

# require_packages NAME...: nothing to do where all are installed.
require_packages() {
  local name missing=() as_root=()
  if ! command -v dpkg-query > /dev/null; then
    echo "This is no Debian or Ubuntu: make sure that the equivalents of these packages are installed: $*" >&2
    return 0
  fi
  for name in "$@"; do
    dpkg-query -W -f '${Status}\n' "$name" 2> /dev/null | grep -q '^install ok installed$' || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo > /dev/null; then
      echo "Missing packages. As root, run: apt-get install --no-install-recommends ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "Installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
}
