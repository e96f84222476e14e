# shellcheck shell=bash disable=SC2154 # the variables are those of scripts/soft-roce
# Sourced by scripts/soft-roce: what the host needs, and the guest's kernel, initramfs and root file system, from Debian
# packages that are unpacked and never installed on the host.

# The guest is always Debian 12 with its newer kernel: since 6.12 a file that is mapped read-only can be registered.
guest_suite=bookworm
guest_kernel=linux-image-6.12-amd64
guest_packages=(
  bash coreutils dash findutils gawk grep hostname libc-bin procps mount sed util-linux busybox-static kmod
  iproute2 iputils-ping tcpdump iperf3 socat
  rdma-core ibverbs-utils ibverbs-providers librdmacm1 rdmacm-utils perftest
)
# For the initramfs, in this order; ext4 needs crc32c_generic without depending on it.
boot_modules=(crc32c_generic virtio_pci virtio_blk ext4)
# Unpacked beforehand: decompressing them in an emulated guest costs seconds at each start.
run_modules=(9p 9pnet_virtio dummy rdma_rxe rdma_ucm libcrc32c virtio_net sch_netem)

host_packages=(
  qemu-system-x86_64=qemu-system-x86 mke2fs=e2fsprogs modprobe=kmod depmod=kmod xz=xz-utils
  flock=util-linux setpriv=util-linux dpkg-deb=dpkg sha256sum=coreutils
)

install_host_packages() { # COMMAND=PACKAGE...
  local pair missing=()
  for pair in "$@"; do
    command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
  done
  [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing+=(debian-archive-keyring)
  [ ${#missing[@]} -gt 0 ] || return 0
  mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
  command -v apt-get >/dev/null || die "this host has no apt-get: Soft-RoCE guests are built on Debian or Ubuntu. On another \
system install there what these Debian packages hold: ${missing[*]}, apt and dpkg"
  local root=()
  if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || [ -t 0 ] && command -v sudo >/dev/null ||
      die "missing packages, and neither root nor sudo here. Ask for: apt-get install --no-install-recommends ${missing[*]}"
    root=(sudo)
  fi
  say "installing ${missing[*]}"
  local log=$cache/apt.log
  # A list from last month names packages that mirrors no longer have, hence the second try.
  local install=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}")
  "${install[@]}" >"$log" 2>&1 </dev/null ||
    { "${root[@]}" apt-get update -q && "${install[@]}"; } >"$log" 2>&1 </dev/null ||
    die "apt-get could not install ${missing[*]}: see $log"
}

# The mirror that the host itself uses for Debian (label Debian or Debian-Security), or Debian's own.
debian_mirror() { # label, default
  local mirror
  # shellcheck disable=SC2016 # apt-get expands these
  mirror=$(apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    sed -n "s/^Debian|$1|//p" | head -n 1)
  printf '%s\n' "${mirror:-$2}"
}

# apt-get with lists, cache and status of its own: it resolves as if nothing were installed and needs no root.
guest_apt() {
  local apt=$cache/apt
  mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,etc/sources.list.d,etc/preferences.d}
  : >"$apt/state/status"
  local keys=[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] main security
  main=$(debian_mirror Debian http://deb.debian.org/debian)
  security=$(debian_mirror Debian-Security http://deb.debian.org/debian-security)
  cat >"$apt/etc/sources.list" <<EOF
deb $keys $main $guest_suite main
deb $keys $security $guest_suite-security main
EOF
  apt-get -q -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User=root \
    -o APT::Install-Recommends=false -o Dir::State="$apt/state" -o Dir::State::status="$apt/state/status" \
    -o Dir::Cache="$apt/cache" -o Dir::Etc="$apt/etc" -o Dir::Etc::SourceList="$apt/etc/sources.list" \
    -o Dir::Etc::SourceParts="$apt/etc/sources.list.d" -o Dir::Etc::PreferencesParts="$apt/etc/preferences.d" "$@"
}

image_hash() {
  cat "$library"/{image.sh,init,guest} | sha256sum | cut -c 1-12
}

# Prints the newest finished image of these scripts, or nothing.
find_image() {
  find "$cache/images" -maxdepth 2 -path "*-$(image_hash)/complete" -printf '%h\n' 2>/dev/null | sort -V | tail -n 1
}

# Makes the image unless the newest kernel's is there. The caller holds the lock.
build_image() {
  local log=$cache/setup.log version image build
  say "preparing the guest's image (first use: about a minute)"
  guest_apt update >"$log" 2>&1 || die "apt-get update failed for the guest: see $log"
  guest_apt --print-uris -y install "$guest_kernel" >"$cache/apt/kernel" 2>>"$log" ||
    die "$guest_kernel is not to be had from $guest_suite: see $log"
  version=$(sed -n "s|.* ${guest_kernel}_\([^_]*\)_.*|\1|p" "$cache/apt/kernel")
  version=${version//%3a/:}
  version=${version//%7e/\~}
  [ -n "$version" ] || die "cannot tell the version of $guest_kernel"
  image=$cache/images/$version-$(image_hash)
  [ -e "$image/complete" ] && return
  build=$cache/images/build
  rm -rf "$build" "$image"
  mkdir -p "$build/root"
  guest_apt clean
  guest_apt -y --download-only install "$guest_kernel" "${guest_packages[@]}" >>"$log" 2>&1 ||
    die "the guest's packages could not be downloaded: see $log"
  local deb
  for deb in "$cache"/apt/cache/archives/*.deb; do
    dpkg-deb -x "$deb" "$build/root" || die "cannot unpack $deb"
  done
  guest_apt clean
  { make_root "$build/root" && make_boot "$build" && make_disk "$build"; } >>"$log" 2>&1 ||
    die "the guest's image could not be built: see $log"
  rm -rf "$build/root"
  touch "$build/complete"
  mv "$build" "$image"
  # Images of other scripts or kernels may be in use elsewhere; those that nobody used for a month go.
  find "$cache/images" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} +
}

# What the packages' set-up scripts would have done.
make_root() { # root
  local root=$1 kernel folder
  mkdir -p "$root"/{dev,proc,sys,run,tmp,root,mnt,usr/local/sbin,var/tmp}
  install -m 755 "$library/guest" "$root/usr/local/sbin/soft-roce-guest"
  printf 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n' >"$root/etc/passwd"
  printf 'root:x:0:\ntcpdump:x:105:\nnogroup:x:65534:\n' >"$root/etc/group"
  printf 'tcpdump:x:105:105::/nonexistent:/usr/sbin/nologin\n' >>"$root/etc/passwd"
  printf 'hosts: files\n' >"$root/etc/nsswitch.conf"
  ln -sf gawk "$root/usr/bin/awk"
  ln -sf /proc/mounts "$root/etc/mtab"
  # When built without root the files belong to somebody else, as whom mount would then run.
  find "$root" -type f -perm /6000 -exec chmod ug-s {} +
  [ -e "$root/bin/sh" ] || ln -s dash "$root/bin/sh"
  folder=$(echo "$root"/lib/modules/*)
  kernel=${folder##*/}
  module_files "$root" "$kernel" "${boot_modules[@]}" "${run_modules[@]}" | grep '\.xz$' | xargs -r xz -d
  depmod -b "$root" "$kernel"
  rm -rf "$root"/usr/share/{doc,man,locale,perl,bash-completion} "$root"/usr/lib/x86_64-linux-gnu/perl
}

# The files of modules and of all that they need, each after what it needs.
module_files() { # root, kernel, module...
  local root=$1 kernel=$2
  shift 2
  [ -e "$root/lib/modules/$kernel/modules.dep" ] || depmod -b "$root" "$kernel"
  modprobe -d "$root" -S "$kernel" --config /dev/null --show-depends -a "$@" | sed -n 's/^insmod \([^ ]*\).*/\1/p' |
    awk '!seen[$0]++'
}

make_boot() { # build
  local root=$1/root folder kernel file initramfs=$1/initramfs
  folder=$(echo "$root"/lib/modules/*)
  kernel=${folder##*/}
  mv "$root/boot/vmlinuz-$kernel" "$1/vmlinuz"
  echo "$kernel" >"$1/release"
  rm -rf "$root/boot"
  mkdir -p "$initramfs"/{bin,dev,proc,root,modules}
  install -m 755 "$root/bin/busybox" "$initramfs/bin/"
  install -m 755 "$library/init" "$initramfs/init"
  for file in $(module_files "$root" "$kernel" "${boot_modules[@]}"); do
    cp "$file" "$initramfs/modules/"
    echo "${file##*/}" >>"$initramfs/modules/order"
  done
  (cd "$initramfs" && find . | "$root/bin/busybox" cpio -o -H newc) >"$1/initramfs.cpio"
  rm -rf "$initramfs"
}

make_disk() { # build
  # Sparse: the guest may fill it, in a throw-away overlay.
  mke2fs -q -t ext4 -L soft-roce -J size=16 -E root_owner=0:0,lazy_itable_init=1,lazy_journal_init=1 \
    -d "$1/root" "$1/root.ext4" 16G
  # The packages' own sizes are of no use later; read-only guards the image against a forgotten overlay.
  chmod a-w "$1/root.ext4"
}
