# shellcheck shell=bash disable=SC2154,SC2034
# Sourced by rdma-bench: measures between this host and one that serves.

# open_control: starts what carries the conversation with the other side: a TCP connection, or ssh that brings the
# functions along, so that nothing of this need be installed there.
open_control() {
  local command
  if [ -n "$ssh_to" ]; then
    command -v ssh >/dev/null || fail "no ssh here: apt-get install openssh-client"
    local text
    text="step_fields='$step_fields'; $(declare -f content gid_of_ipv4 find_gid need_device find_device find_node need_perftest need_tools check_step \
      perftest_command session perftest_version wait_for_listener stop_server); set -uo pipefail; session - -"
    command=(ssh -o BatchMode=yes -o ConnectTimeout=10 "$ssh_to" "exec bash -c '${text//\'/\'\\\'\'}'")
  else
    command -v socat >/dev/null || fail "no socat here: apt-get install socat, or dnf install socat; or measure by --ssh"
    command=(socat - "TCP4:$peer_address:$control_port,connect-timeout=10")
  fi
  mkfifo "$work/requests" "$work/answers"
  trap '' PIPE
  "${command[@]}" <"$work/requests" >"$work/answers" 2>"$work/control.log" &
  control=$!
  exec {to}>"$work/requests" {from}<"$work/answers"
}

ask() { # EXPECTED REQUEST...: sets answer to what follows the expected word
  local expected=$1 verb
  shift
  { printf '%s\n' "$*" >&"$to"; } 2>/dev/null || true
  if ! read -r -t 60 verb answer <&"$from"; then
    local reason
    reason=$(tail -n 1 "$work/control.log")
    if [ -n "$ssh_to" ]; then fail "no answer by ssh from $ssh_to: ${reason:-the connection ended}"; fi
    fail "no answer from $host port $control_port: ${reason:-the connection ended}. Is scripts/rdma-bench serve running there?"
  fi
  [ "$verb" != error ] || fail "$host: $answer"
  [ "$verb" = "$expected" ] || fail "$host answers '$verb' instead of '$expected'"
}

greet() {
  local word
  ask host hello 1 "$peer_address" "$peer_device" "$peer_gid"
  read -r peer_name peer_has peer_port peer_gid_index peer_link peer_node peer_version <<<"$answer"
  for word in "$peer_name" "$peer_has" "$peer_port" "$peer_gid_index" "$peer_link" "$peer_node" "$peer_version"; do
    [[ $word =~ ^[A-Za-z0-9_.-]+$ ]] || fail "$host answers '$answer'"
  done
  [ "$link_layer" = "$peer_link" ] || fail "$device here is $link_layer, $peer_has on $host is $peer_link"
}

# measure OPERATION KIND SIZE QPS: sets value and detail. A connection that fails is tried again: RDMA CM may be slow to listen.
measure() {
  local operation=$1 kind=$2 size=$3 qps=$4 tcp_port numa_bound=$numa_wanted attempt result request field perftest=()
  for attempt in 1 2 3; do
    tcp_port=$((control_port + 1 + steps++ % 32))
    perftest_command
    request=
    for field in $step_fields; do request+=" ${!field}"; done
    ask listening "start$request"
    # In the background, or else Ctrl-C would be heard when it has ended.
    timeout $((seconds + 120 + iterations / 1000)) "${perftest[@]}" "$peer_address" </dev/null >"$work/perftest.log" 2>&1 &
    client=$!
    wait "$client" || true
    client=
    result=$(parse_perftest "$kind" "$size" <"$work/perftest.log") || result=
    ask stopped stop
    [ -z "$result" ] || break
  done
  if [ -z "$result" ]; then
    tail -n 12 "$work/perftest.log" >&2
    fail "no figure from: ${perftest[*]} $peer_address (its last lines are above)"
  fi
  read -r value detail <<<"$result"
}

run() {
  local operation size count
  steps=0
  local_ipv4_to "$host"
  find_device "$own_address" "$wanted_device" "$wanted_gid"
  need_tools "$rdma_cm" "$numa_wanted"
  open_control
  greet
  open_history
  begin_report
  for operation in "${operations[@]}"; do
    for size in "${latency_sizes[@]}"; do
      measure "$operation" lat "$size" 1
      report "$(figure_name "$operation" lat "$size" 1)" us "$value" "$detail"
    done
    for count in "${all_qps[@]}"; do
      for size in "${sizes[@]}"; do
        measure "$operation" bw "$size" "$count"
        report "$(figure_name "$operation" bw "$size" "$count")" Gb/s "$value" "$detail"
      done
    done
  done
  end_report
}
