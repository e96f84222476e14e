# shellcheck shell=bash disable=SC2154 # the variables are those of scripts/soft-roce and image.sh
# Sourced by scripts/soft-roce: builds siw, the kernel's iWARP driver, which Debian's kernels leave out, as one module from
# Debian's kernel source against the headers of the guest's kernel, once for each image.

siw_host_packages=(gcc=gcc make=make strip=binutils xz=xz-utils)

siw_out() { die "no iWARP device for this guest: $*. Soft-RoCE (--device rxe) is not concerned"; }

prepare_siw() {
  [ ! -e "$image/siw.ko" ] || return 0
  exec 9>"$cache/lock"
  flock 9
  if [ ! -e "$image/siw.ko" ]; then
    install_host_packages "${siw_host_packages[@]}" 9>&-
    say "building the module siw (first use: about two minutes)"
    build_siw 9>&-
  fi
  exec 9>&-
}

build_siw() {
  local log=$cache/siw.log version=${image##*/} release flavour build=$cache/siw deb
  version=${version%-*}
  read -r release <"$image/release"
  flavour=${release##*-}
  rm -rf "$build"
  mkdir -p "$build"/{debs,tree,libraries}
  guest_apt update >"$log" 2>&1 || siw_out "apt-get update failed: see $log"
  # All of one version: a module of other sources or headers is none for this kernel.
  (cd "$build/debs" && guest_apt download "linux-source-${release%%.*}.$(cut -d . -f 2 <<<"$release")=$version" \
    "linux-headers-$release=$version" "linux-headers-${release%-"$flavour"}-common=$version" \
    "linux-kbuild-${release%-"$flavour"}=$version" libelf1) >>"$log" 2>&1 ||
    siw_out "source and headers of kernel $version are not to be had (scripts/soft-roce setup takes the newest kernel): see $log"
  for deb in "$build"/debs/{linux-headers,linux-kbuild,libelf1}*.deb; do
    dpkg-deb -x "$deb" "$build/tree" >>"$log" 2>&1 || siw_out "cannot unpack $deb: see $log"
  done
  { unpack_siw "$build" && make_siw "$build" "$release"; } >>"$log" 2>&1 || siw_out "the module could not be built: see $log"
  mv "$build/siw.ko" "$image/siw.ko"
  rm -rf "$build"
}

unpack_siw() { # build
  dpkg-deb --fsys-tarfile "$1"/debs/linux-source-*.deb | tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
    tar -xJ -C "$1" --strip-components=4 --wildcards '*/drivers/infiniband/sw/siw/*'
}

make_siw() { # build, release
  local sources=$1/tree/usr/src
  local headers=$sources/linux-headers-$2
  sed -i "s|^include /usr/src/|include $sources/|" "$headers/Makefile"
  # Types for tracing, which would need pahole.
  rm -f "$headers/vmlinux"
  # The kernel's tools are Debian's; nothing else of it may come before the host's own libraries.
  cp -a "$1"/tree/usr/lib/x86_64-linux-gnu/libelf* "$1/libraries/"
  LD_LIBRARY_PATH=$1/libraries make -C "$headers" M="$1/siw" CC=gcc CONFIG_RDMA_SIW=m modules &&
    strip --strip-debug -o "$1/siw.ko" "$1/siw/siw.ko"
}
