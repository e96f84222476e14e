# shellcheck shell=bash disable=SC2034
# Sourced: finds the RDMA device, port, GID and NUMA node that belong to an address of this host, from sysfs.
# Only functions: the other host may get them through ssh. RDMA_BENCH_SYS is /sys, or a recorded copy in tests.

local_ipv4_to() { # HOST: sets peer_address, and own_address from which packets to it leave
  local line
  line=$(getent ahostsv4 "$1") || fail "cannot resolve '$1' to an IPv4 address"
  peer_address=${line%%[[:space:]]*}
  line=$(ip -o -4 route get "$peer_address" 2>&1) || fail "no route to $peer_address: $line"
  [[ $line =~ \ src\ ([0-9.]+) ]] || fail "cannot tell the source address of the route to $peer_address: $line"
  own_address=${BASH_REMATCH[1]}
}

gid_of_ipv4() { # ADDRESS: as the kernel prints the IPv4-mapped GID
  local a b c d
  IFS=. read -r a b c d <<<"$1"
  printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x\n' "$a" "$b" "$c" "$d"
}

content() { # FILE: its first line, or nothing where it cannot be read
  local line=
  { read -r line <"$1"; } 2>/dev/null || true
  printf '%s\n' "$line"
}

# find_gid PORT_FOLDER GID: sets gid_index to that of RoCE v2 and GID, and succeeds; without GID to the best one. A table may
# have 1,024 entries, hence no process for each; empty ones have no type that could be read.
find_gid() {
  local folder=$1 wanted=$2 file gid kind rank best=0
  gid_index=-
  for file in "$folder"/gids/*; do
    gid='' kind=''
    { read -r gid <"$file"; } 2>/dev/null || continue
    case $gid in
      0000:0000:0000:0000:0000:0000:0000:0000) continue ;;
      "$wanted") rank=4 ;;
      0000:0000:0000:0000:0000:ffff:*) rank=3 ;;
      fe80:*) rank=1 ;;
      *) rank=2 ;;
    esac
    [ -z "$wanted" ] || [ "$rank" = 4 ] || continue
    { read -r kind <"$folder/gid_attrs/types/${file##*/}"; } 2>/dev/null || continue
    if [ "$kind" = 'RoCE v2' ] && [ "$rank" -gt "$best" ]; then
      best=$rank gid_index=${file##*/}
    fi
  done
  [ "$gid_index" != - ]
}

need_device() {
  compgen -G "${RDMA_BENCH_SYS:-/sys}/class/infiniband/*/ports/*" >/dev/null ||
    fail "no RDMA device on $(uname -n): load the driver of the NIC; rdma link show lists devices (package iproute2)"
}

# find_device ADDRESS DEVICE[/PORT]|- GID_INDEX|-: sets device, device_port, gid_index (- for InfiniBand), link_layer and
# numa_node (- where it does not matter), or fails.
find_device() {
  local address=$1 wanted=$2 wanted_gid=$3 root=${RDMA_BENCH_SYS:-/sys}/class/infiniband
  local folder name active=() others=()
  need_device
  for folder in "$root"/*/ports/*; do
    name=${folder#"$root/"} name=${name/\/ports\//\/}
    [ "$wanted" = - ] || [ "$wanted" = "$name" ] || [ "$wanted" = "${name%/*}" ] || {
      others+=("$name")
      continue
    }
    case $(content "$folder/state") in
      *ACTIVE*) active+=("$folder") ;;
      *) others+=("$name, which is $(content "$folder/state")") ;;
    esac
  done
  [ ${#active[@]} -gt 0 ] || fail "no active port of $(if [ "$wanted" = - ]; then echo a device; else echo "$wanted"; fi) on $(uname -n); there is: $(printf '%s; ' "${others[@]}")bring its \
interface up (ip link set IF up), or name another by --device"
  local found=
  for folder in "${active[@]}"; do
    if find_gid "$folder" "$(gid_of_ipv4 "$address")"; then
      found=$folder
      break
    fi
  done
  if [ -z "$found" ]; then
    [ ${#active[@]} = 1 ] || fail "no port on $(uname -n) has a RoCE v2 GID of $address, and several are active: $(
      printf '%s\n' "${active[@]#"$root/"}" | sed 's|/ports/|/|' | paste -s -d ' '): name one by --device"
    found=${active[0]}
    find_gid "$found" '' || true
  fi
  name=${found#"$root/"}
  device=${name%%/*} device_port=${name##*/} link_layer=$(content "$found/link_layer")
  [ "$wanted_gid" = - ] || {
    [ -n "$(content "$found/gid_attrs/types/$wanted_gid")" ] || fail "$device/$device_port has no GID $wanted_gid: show_gids, or \
grep -H . $found/gid_attrs/types/*, lists them"
    gid_index=$wanted_gid
  }
  case $(content "$root/$device/node_type") in 4*) link_layer=iWARP gid_index=- ;; esac
  [ "$link_layer" != Ethernet ] || [ "$gid_index" != - ] ||
    fail "$device/$device_port has no RoCE v2 GID: give its interface an address, or name a GID by --gid-index"
  find_node
}

# Where the host has more than one NUMA node and says which is the device's.
find_node() {
  local nodes
  numa_node=-
  nodes=$({ compgen -G "${RDMA_BENCH_SYS:-/sys}/devices/system/node/node[0-9]*" || true; } | wc -l)
  [ "$nodes" -gt 1 ] || return 0
  numa_node=$(content "${RDMA_BENCH_SYS:-/sys}/class/infiniband/$device/device/numa_node")
  case $numa_node in '' | -1) numa_node=- ;; esac
}

need_perftest() {
  command -v ib_read_bw >/dev/null || fail "no perftest on $(uname -n): apt-get install perftest, or dnf install perftest"
}

# need_tools RDMA_CM NUMA: fails where this host lacks something; sets numa to the command that binds, or nothing.
need_tools() {
  need_perftest
  [ "$link_layer" != iWARP ] || [ "$1" = 1 ] || fail "$device is an iWARP device, which connects by RDMA CM only: give -R"
  numa=()
  [ "$2" = 1 ] || numa_node=-
  [ "$numa_node" != - ] || return 0
  command -v numactl >/dev/null ||
    fail "$(uname -n) has several NUMA nodes, and no numactl: apt-get install numactl, or go without by --no-numa"
  numa=(numactl "--cpunodebind=$numa_node" "--membind=$numa_node")
}
