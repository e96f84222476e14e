# shellcheck shell=bash disable=SC2154,SC2034,SC2178,SC2004
# Sourced by roce-qos: what an interface has now, and what was saved of it. A state is an associative array:
#   pause   rx:on tx:on            global pause, or - where ethtool does not say
#   trust   pcp | dscp             of mlnx_qos; of dcb the order of trust, which may be empty, or - where the device has none
#   dscp    26:3 46:5 ...          DSCP to priority, sorted
#   pfc     0 0 0 1 0 0 0 0        by priority
#   ecn     roce_np/3:1 ...        NVIDIA's switches by side and priority, or -
#   tos     mlx5_0/1:106 ...       RDMA CM's default for each port on the interface, or -
# ROCE_QOS_SYS is /sys, or a folder in its form in tests.

state_fields='pause trust dscp pfc ecn tos'

read_pause() {
  local text rx tx
  pause=-
  command -v ethtool >/dev/null || return 0
  text=$(ethtool -a "$interface" 2>/dev/null) || return 0
  rx=$(sed -n 's/^RX:[[:space:]]*//p' <<<"$text") tx=$(sed -n 's/^TX:[[:space:]]*//p' <<<"$text")
  case "$rx $tx" in 'on on' | 'on off' | 'off on' | 'off off') pause="rx:$rx tx:$tx" ;; esac
}

sorted() { # words, by number
  tr -s ' \n' '\n' <<<"$*" | sed '/^$/d' | sort -t : -k 1,1n -k 2,2n | paste -s -d ' '
}

read_dcb() {
  local text flags
  text=$(dcb -N app show dev "$interface" 2>&1) || refuse_tool "$text"
  dscp=$(sorted "$(sed -n 's/^dscp-prio //p' <<<"$text")")
  text=$(dcb pfc show dev "$interface" 2>&1) || refuse_tool "$text"
  flags=$(grep -o 'prio-pfc .*' <<<"$text") || fail "cannot read PFC from: $text"
  flags=${flags#prio-pfc }
  flags=${flags//[0-7]:on/1} flags=${flags//[0-7]:off/0}
  read -ra flags <<<"$flags"
  pfc=${flags[*]}
  # Newer than some kernels and dcb itself; without it a table of DSCPs is itself the trust.
  text=$(dcb apptrust show dev "$interface" 2>/dev/null) || text=
  trust=$(sed -n 's/^order: *//p' <<<"$text")
  trust=${trust% }
  [[ $text = *order:* ]] || trust=- # an empty order is trust in nothing
  text=$(dcb dcbx show dev "$interface" 2>/dev/null) || text=host
  dcbx=host
  [[ " $text " == *' host '* ]] || dcbx=firmware
}

read_mlnx_qos() {
  local text number priority list=''
  text=$(mlnx_qos -i "$interface" 2>&1) || refuse_tool "$text"
  trust=$(sed -n 's/^Priority trust state: //p' <<<"$text")
  case $trust in pcp | dscp) ;; *) fail "mlnx_qos does not say pcp or dscp for $interface's trust, but '$trust'" ;; esac
  pfc=$(sed -n 's/^[[:space:]]*enabled[[:space:]]*\([01 ]*\)$/\1/p' <<<"$text" | head -n 1)
  pfc=$(tr -s ' ' <<<"$pfc")
  pfc=${pfc% }
  if [ -e "$sys/class/net/$interface/qos/dscp2prio" ]; then
    while read -r number priority; do
      [[ $number$priority =~ ^[0-9]+$ ]] && list+=" $number:$priority"
    done <"$sys/class/net/$interface/qos/dscp2prio"
  else
    while IFS=: read -r priority number; do
      for number in ${number//,/ }; do list+=" $((10#$number)):$priority"; done
    done < <(sed -n 's/^[[:space:]]*prio:\([0-7]\) dscp:\([0-9,]*\)$/\1:\2/p' <<<"$text")
  fi
  dscp=$(sorted "$list")
  dcbx=host
  [[ $text != *'DCBX mode: Firmware'* ]] || dcbx=firmware
}

refuse_tool() { # what it said
  fail "$tool cannot read $interface: $1. Not every driver has DCB: see ethtool -i $interface, and the vendor's own tool"
}

read_ecn() {
  local file value list=''
  for file in "$sys/class/net/$interface/ecn"/roce_[nr]p/enable/[0-7]; do
    { read -r value <"$file"; } 2>/dev/null || continue
    file=${file#"$sys/class/net/$interface/ecn/"}
    list+=" ${file/\/enable/}:$value"
  done
  ecn=${list# }
  [ -n "$ecn" ] || ecn=-
}

find_rdma_ports() { # sets rdma_ports to DEVICE/PORT of each that has a GID of the interface
  local port file name
  rdma_ports=()
  for port in "$sys"/class/infiniband/*/ports/*; do
    for file in "$port"/gid_attrs/ndevs/*; do
      name=
      { read -r name <"$file"; } 2>/dev/null || continue
      [ "$name" = "$interface" ] || continue
      name=${port#"$sys/class/infiniband/"}
      rdma_ports+=("${name/\/ports\//\/}")
      break
    done
  done
}

# The kernel shows a device in configfs once somebody makes its folder there; its values stay without it.
read_tos() {
  local port folder value made list=''
  find_rdma_ports
  tos=-
  [ -d "$sys/kernel/config/rdma_cm" ] || return 0
  for port in "${rdma_ports[@]}"; do
    folder=$sys/kernel/config/rdma_cm/${port%/*} made=
    if [ ! -d "$folder" ]; then
      mkdir "$folder" 2>/dev/null || return 0
      made=yes
    fi
    value=
    { read -r value <"$folder/ports/${port#*/}/default_roce_tos"; } 2>/dev/null || true
    [ -z "$made" ] || rmdir "$folder" 2>/dev/null || true
    [ -n "$value" ] || return 0
    list+=" $port:$value"
  done
  [ -z "$list" ] || tos=${list# }
}

read_state() { # NAME of an associative array
  local -n into=$1
  local pause trust dscp pfc ecn tos field
  read_pause
  "read_$tool"
  [[ $pfc =~ ^[01](\ [01]){7}$ ]] || fail "cannot tell PFC of $interface from $tool: '$pfc'"
  read_ecn
  read_tos
  for field in $state_fields; do
    into[$field]=${!field}
  done
}

save_state() { # NAME FILE
  local -n from=$1
  local field
  mkdir -p "${2%/*}" || fail "cannot make the folder ${2%/*}: name another by --state"
  if ! {
    printf '# What %s had before roce-qos, %s. For roce-qos undo.\n' "$interface" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    printf 'card=%s\ntool=%s\n' "${card:--}" "$tool"
    for field in $state_fields; do
      printf '%s=%s\n' "$field" "${from[$field]}"
    done
  } >"$2.new" || ! mv "$2.new" "$2"; then
    fail "cannot write $2: name another folder by --state"
  fi
}

# merged BEFORE NOW: the items of BEFORE, and those of NOW of which it has none, such as those of a port that is new.
merged() {
  local item list=" ${1#-}"
  for item in ${2#-}; do
    case $list in *" ${item%:*}:"*) ;; *) list+=" $item" ;; esac
  done
  list=$(tr -s ' ' <<<"$list")
  list=${list# }
  echo "${list:--}"
}

# complete_state NAME FILE: adds to what is saved what could not be read then and can be now, and so may be set. What is there stays.
complete_state() {
  local -n present=$1
  local -A kept=()
  local tool_now=$tool
  local tool='' field edits=''
  load_state kept "$2"
  for field in pause ecn tos; do
    kept[$field]=$(merged "${kept[$field]}" "${present[$field]}")
  done
  # Of trust each tool has words of its own.
  if [ "${kept[trust]}" = - ] && [ "$tool" = "$tool_now" ]; then kept[trust]=${present[trust]}; fi
  for field in pause trust ecn tos; do
    edits+="s|^$field=.*|$field=${kept[$field]}|;"
  done
  if ! sed "$edits" "$2" >"$2.new" || ! mv "$2.new" "$2"; then
    fail "cannot write $2, which lacks what can be set now and could not before"
  fi
}

# is_as_saved FIELD: what could not be read when the state was saved was not set either, or was saved later.
is_as_saved() {
  local item
  case $1 in
    ecn | tos)
      for item in ${saved[$1]#-}; do
        case " ${now[$1]} " in *" $item "*) ;; *) return 1 ;; esac
      done
      ;;
    *) [ "${saved[$1]}" = - ] || [ "${now[$1]}" = "${saved[$1]}" ] ;;
  esac
}

load_state() { # NAME FILE: sets tool too
  local -n into=$1
  local key value
  while IFS='=' read -r key value; do
    case $key in
      \#* | '' | card) ;;
      tool) tool=$value ;;
      pause | trust | dscp | pfc | ecn | tos)
        [[ $value =~ ^[a-zA-Z0-9_:/.\ -]*$ ]] || fail "$2: '$value' is no $key"
        into[$key]=$value
        ;;
      *) fail "$2: unknown '$key'" ;;
    esac
  done <"$2"
  for key in $state_fields; do
    [ -n "${into[$key]+set}" ] || fail "$2 lacks $key: it is not of roce-qos"
  done
}
