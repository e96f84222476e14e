# shellcheck shell=bash disable=SC2154,SC2034
# Sourced by roce-qos: the commands that lead from one state to another, and what is wrong with a state.

# plan FROM TO: sets commands. The order matters: packets get their priority before that priority becomes lossless.
plan() {
  local -n from=$1 to=$2
  commands=()
  if [ "${from[pause]}" != "${to[pause]}" ] && [ "${to[pause]}" != - ]; then
    local rx=${to[pause]%% *} tx=${to[pause]##* }
    commands+=("ethtool -A $interface rx ${rx#rx:} tx ${tx#tx:}")
  fi
  "plan_$tool"
  plan_ecn
  plan_tos
}

# differing_dscps: those whose priorities differ, a line each of DSCP, priorities before, and after, with commas between and - for none.
differing_dscps() {
  awk -v from="${from[dscp]}" -v to="${to[dscp]}" '
    function fill(text, table, words, n, i, pair) {
      n = split(text, words, " ")
      for (i = 1; i <= n; i++) {
        split(words[i], pair, ":")
        table[pair[1]] = (pair[1] in table) ? table[pair[1]] "," pair[2] : pair[2]
      }
    }
    BEGIN {
      fill(from, old); fill(to, new)
      for (i = 0; i < 64; i++)
        if (old[i] != new[i]) print i, (old[i] == "" ? "-" : old[i]), (new[i] == "" ? "-" : new[i])
    }'
}

plan_dcb() {
  local number before after priority replaced='' removed=''
  if [ "${from[trust]}" != "${to[trust]}" ] && [ "${to[trust]}" != - ]; then
    commands+=("dcb apptrust set dev $interface order ${to[trust]}")
  fi
  while read -r number before after; do
    if [ "$after" = - ]; then
      for priority in ${before//,/ }; do removed+=" $number:$priority"; done
    else
      for priority in ${after//,/ }; do replaced+=" $number:$priority"; done
    fi
  done < <(differing_dscps)
  [ -z "$replaced" ] || commands+=("dcb app replace dev $interface dscp-prio$replaced")
  [ -z "$removed" ] || commands+=("dcb app del dev $interface dscp-prio$removed")
  if [ "${from[pfc]}" != "${to[pfc]}" ]; then
    local map='all:off' flags i
    read -ra flags <<<"${to[pfc]}"
    for i in {0..7}; do
      [ "${flags[i]}" = 0 ] || map+=" $i:on"
    done
    commands+=("dcb pfc set dev $interface prio-pfc $map")
  fi
}

# mlnx_qos takes trust and DSCPs in calls of their own only. Without the driver's files in sysfs, trust of PCP is an empty table of DSCPs.
plan_mlnx_qos() {
  local number before after changes=''
  [ "${to[trust]}" != dscp ] || [ "${from[trust]}" = dscp ] || commands+=("mlnx_qos -i $interface --trust dscp")
  if [ "${to[trust]}" = dscp ] || [ -e "$sys/class/net/$interface/qos/dscp2prio" ]; then
    while read -r number before after; do
      if [ "$after" = - ]; then
        changes+=" --dscp2prio del,$number,${before##*,}"
      else
        changes+=" --dscp2prio set,$number,${after##*,}"
      fi
    done < <(differing_dscps)
  fi
  [ -z "$changes" ] || commands+=("mlnx_qos -i $interface$changes")
  [ "${to[trust]}" != pcp ] || [ "${from[trust]}" = pcp ] || commands+=("mlnx_qos -i $interface --trust pcp")
  [ "${from[pfc]}" = "${to[pfc]}" ] || commands+=("mlnx_qos -i $interface --pfc ${to[pfc]// /,}")
}

plan_ecn() {
  local item key
  for item in ${to[ecn]#-}; do
    key=${item%:*}
    case " ${from[ecn]} " in
      *" $item "*) ;;
      *) commands+=("echo ${item##*:} > $sys/class/net/$interface/ecn/${key%/*}/enable/${key#*/}") ;;
    esac
  done
}

plan_tos() {
  local item port folder
  for item in ${to[tos]#-}; do
    port=${item%:*} folder=$sys/kernel/config/rdma_cm/${item%%/*}
    case " ${from[tos]} " in
      *" $item "*) ;;
      *) commands+=("mkdir -p $folder && echo ${item##*:} > $folder/ports/${port#*/}/default_roce_tos") ;;
    esac
  done
}

# want_lossless FROM TO: what FROM becomes by the chosen DSCP and priority.
want_lossless() {
  local -n old=$1 new=$2
  local item list='' i
  new[pause]=${old[pause]}
  [ "${old[pause]}" = - ] || new[pause]='rx:off tx:off'
  case $tool:" ${old[trust]} " in
    mlnx_qos:*) new[trust]=dscp ;;
    *' - '* | *' dscp '*) new[trust]=${old[trust]} ;;
    *) new[trust]="dscp${old[trust]:+ ${old[trust]}}" ;;
  esac
  for item in ${old[dscp]}; do
    [ "${item%:*}" = "$wanted_dscp" ] || list+=" $item"
  done
  new[dscp]=$(sorted "$list $wanted_dscp:$priority")
  list=
  for i in {0..7}; do
    if [ "$i" = "$priority" ]; then list+=' 1'; else list+=' 0'; fi
  done
  new[pfc]=${list# }
  list=
  for item in ${old[ecn]}; do
    case $item in */"$priority":*) item=${item%:*}:1 ;; esac
    list+=" $item"
  done
  new[ecn]=${list# }
  list=
  for item in ${old[tos]}; do
    [ "$item" = - ] || item=${item%:*}:$wanted_tos
    list+=" $item"
  done
  new[tos]=${list# }
}

# judge NAME: sets faults to what does not fit the chosen DSCP and priority.
judge() {
  local -n judged=$1
  local item
  local -A fit=()
  faults=()
  want_lossless "$1" fit
  [ "${judged[pause]}" = "${fit[pause]}" ] || faults+=("global pause stops all priorities: ${judged[pause]}")
  [ "${judged[trust]}" = "${fit[trust]}" ] || faults+=("trust is ${judged[trust]:-of nothing}, not DSCP")
  case " ${judged[dscp]} " in
    *" $wanted_dscp:$priority "*) ;;
    *) faults+=("DSCP $wanted_dscp is not mapped to priority $priority") ;;
  esac
  [ "${judged[pfc]}" = "${fit[pfc]}" ] || faults+=("PFC is on for $(lossless_of "${judged[pfc]}"), not for priority $priority alone")
  [ "${judged[ecn]}" = "${fit[ecn]}" ] || faults+=("ECN is off for priority $priority")
  for item in ${judged[tos]#-}; do
    [ "${item##*:}" = "$wanted_tos" ] || faults+=("RDMA CM's traffic class on ${item%:*} is ${item##*:}, not $wanted_tos")
  done
}

lossless_of() { # FLAGS
  local flags i list=''
  read -ra flags <<<"$1"
  for i in {0..7}; do [ "${flags[i]}" = 0 ] || list+=", $i"; done
  case $list in
    '') echo 'no priority' ;;
    ', '?) echo "priority ${list#, }" ;;
    *) echo "priorities ${list#, }" ;;
  esac
}

show_state() { # NAME
  local -n shown=$1
  local item sides=''
  echo "$interface${driver:+ ($driver)}, RDMA ${rdma_ports[*]:-none}, by $tool"
  echo "  global pause    ${shown[pause]}"
  echo "  trust           ${shown[trust]:-of nothing}"
  echo "  DSCP $wanted_dscp         $(for item in ${shown[dscp]}; do [ "${item%:*}" != "$wanted_dscp" ] || echo "priority ${item#*:}"; done)"
  echo "  PFC             $(lossless_of "${shown[pfc]}")"
  for item in ${shown[ecn]}; do
    case $item in roce_np/"$priority":*) sides+="receiver ${item##*:} " ;; roce_rp/"$priority":*) sides+="sender ${item##*:}" ;; esac
  done
  echo "  ECN             ${sides:--}"
  echo "  RDMA CM's class ${shown[tos]}"
}
