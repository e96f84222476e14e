# shellcheck shell=bash disable=SC2154,SC2034
# Sourced: perftest's command line for one figure, and the figure from its output. Only functions: see device.sh.

# What both sides must agree on, in the order in which it is sent; - means perftest's own choice.
step_fields='operation kind size qps tcp_port rdma_cm tos seconds iterations depth outstanding cq_moderation mtu numa_bound'

# check_step: the fields come from another host.
check_step() {
  local field
  case $operation in read | write | send) ;; *) fail "no operation '$operation'" ;; esac
  case $kind in lat | bw) ;; *) fail "no kind '$kind'" ;; esac
  for field in size qps tcp_port rdma_cm tos seconds iterations depth outstanding cq_moderation mtu numa_bound; do
    [[ ${!field} =~ ^(-|[0-9]{1,9})$ ]] || fail "$field is no number: '${!field}'"
  done
  [ -z "${excess:-}" ] || fail "more than is known: '$excess'"
}

# perftest_command: sets perftest to the command of the step on this side; the client adds the address of the server.
perftest_command() {
  perftest=("${numa[@]}" "ib_${operation}_$kind" -F -d "$device" -i "$device_port" -s "$size" -p "$tcp_port")
  if [ "$rdma_cm" = 1 ]; then
    perftest+=(-R)
    [ "$tos" = - ] || perftest+=(-T "$tos")
  elif [ "$gid_index" != - ]; then
    perftest+=(-x "$gid_index")
  fi
  [ "$mtu" = - ] || perftest+=(-m "$mtu")
  [ "$outstanding" = - ] || [ "$operation" != read ] || perftest+=(-o "$outstanding")
  if [ "$kind" = lat ]; then
    perftest+=(-n "$iterations")
  else
    # A second of warm-up and one at the end are not counted.
    perftest+=(-q "$qps" -D $((seconds + 2)) -f 1)
    [ "$depth" = - ] || perftest+=(-t "$depth")
    [ "$cq_moderation" = - ] || perftest+=(-Q "$cq_moderation")
  fi
}

figure_name() { # OPERATION KIND SIZE QPS
  if [ "$2" = lat ]; then printf '%s-lat-%s\n' "$1" "$3"; else printf '%s-bw-%s-qp%s\n' "$1" "$3" "$4"; fi
}

# parse_perftest KIND SIZE: reads perftest's output. Prints of a latency "typical 99th", microseconds; of a bandwidth "Gb/s messages/s".
# perftest counts in units of 2^20 bytes whether it writes MB or MiB; where messages are small, the rate of messages has more digits.
parse_perftest() {
  awk -v kind="$1" -v size="$2" '
    /^ *#bytes/ { header = 1; next }
    header && $1 == size && NF >= 5 && kind == "bw" {
      gigabits = $4 * 1048576 * 8 / 1e9; rate = $5 * 1e6
      if ($5 >= 0.001) gigabits = rate * size * 8 / 1e9
      if (gigabits > 0 && gigabits < 1e6) { printf "%.6g %.6g\n", gigabits, rate; found = 1 }
      exit
    }
    header && $1 == size && NF >= 9 && kind == "lat" {
      if ($5 > 0 && $8 > 0) { printf "%.6g %.6g\n", $5, $8; found = 1 }
      exit
    }
    END { exit !found }'
}
