# shellcheck shell=bash disable=SC2154,SC2034
# Sourced: the served side of a measurement, which does what the other host asks on its standard input, a line each:
#   hello VERSION ADDRESS DEVICE GID_INDEX    answered by host NAME DEVICE PORT GID_INDEX LINK NUMA PERFTEST
#   start FIELD...                            starts perftest's server, answered by listening
#   stop                                      ends it, answered by stopped
# and anything by error TEXT, after which the session is over. Only functions: see device.sh.

session() { # DEVICE[/PORT]|- GID_INDEX|- as this side was told
  local verb rest version address asked_device asked_gid
  numa=() perftest=() server='' device='' log=$(mktemp)
  fail() {
    printf 'error %s\n' "$*"
    exit 1
  }
  trap 'stop_server; rm -f "$log"' EXIT
  trap 'exit 1' INT TERM HUP
  while read -r verb rest; do
    case $verb in
      hello)
        read -r version address asked_device asked_gid <<<"$rest"
        [ "$version" = 1 ] || fail "the two hosts have different versions of rdma-bench"
        [[ $address =~ ^[0-9]{1,3}(\.[0-9]{1,3}){3}$ ]] || fail "'$address' is no IPv4 address"
        [ "$asked_device" != - ] || asked_device=$1
        [ "$asked_gid" != - ] || asked_gid=$2
        find_device "$address" "$asked_device" "$asked_gid"
        need_tools 1 0
        find_node
        printf 'host %s %s %s %s %s %s %s\n' "$(uname -n)" "$device" "$device_port" "$gid_index" "$link_layer" "$numa_node" "$(perftest_version)"
        ;;
      start)
        # shellcheck disable=SC2086,SC2229 # a list of names
        read -r $step_fields excess <<<"$rest"
        [ -n "$device" ] || fail "no hello yet"
        check_step
        stop_server
        find_node
        need_tools "$rdma_cm" "$numa_bound"
        perftest_command
        "${perftest[@]}" </dev/null >"$log" 2>&1 &
        server=$!
        wait_for_listener
        echo listening
        ;;
      stop)
        stop_server
        echo stopped
        ;;
      *) fail "unknown request '$verb'" ;;
    esac
  done
}

perftest_version() {
  local version
  version=$(ib_read_bw --version 2>&1 | grep -o '[0-9][0-9.a-z-]*' | head -n 1) || true
  printf '%s\n' "${version:-unknown}"
}

# The server is ready when its TCP port listens; by RDMA CM, a moment after it opened RDMA CM's device. Where that is not
# to be seen in 5 s, the client tries, and tries again.
wait_for_listener() {
  local tries hexadecimal
  hexadecimal=$(printf ':%04X 0' "$tcp_port")
  for tries in {1..300}; do
    kill -0 "$server" 2>/dev/null || fail "perftest ended at once: $(tail -n 3 "$log" | tr '\n' ' ')"
    if [ "$rdma_cm" = 1 ]; then
      if [ "$tries" -gt 50 ] || [ -n "$(find "/proc/$server/fd" -lname '*/rdma_cm' 2>/dev/null)" ]; then
        sleep 0.3
        return
      fi
    elif cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk '$4 == "0A" { print $2 " 0" }' | grep -qF "$hexadecimal"; then
      return
    fi
    sleep 0.1
  done
  fail "perftest's server does not listen after 30 s: $(tail -n 3 "$log" | tr '\n' ' ')"
}

stop_server() {
  local tries
  [ -n "$server" ] || return 0
  # It ends by itself after its client.
  for tries in {1..20}; do
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  server=
}
