# shellcheck shell=bash
# Sourced: installs Debian packages by name where they are missing, or says which to install; or unpacks one.

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

# unpack_package NAME DIR: the files of this host's package of that name in DIR, nothing is installed; kept for the next time.
unpack_package() {
  local part=$2.part
  [ ! -d "$2" ] || return 0
  command -v apt-get > /dev/null || return 1
  echo "Unpacking $1"
  rm -rf "$part"
  mkdir -p "$part/files" || return
  # A list from last month names packages that mirrors no longer have, and a new machine may have none.
  download_package "$1" "$part" || { update_package_lists && download_package "$1" "$part"; } || return
  dpkg-deb --extract "$part"/*.deb "$part/files" || return
  mv "$part/files" "$2" && rm -rf "$part"
}

download_package() { # NAME DIR
  (cd "$2" && apt-get download -qq -o APT::Sandbox::User=root "$1" 2> /dev/null)
}

update_package_lists() {
  if [ "$(id -u)" -eq 0 ]; then
    apt-get update -qq
  else
    sudo -n apt-get update -qq
  fi
}
