# shellcheck shell=bash disable=SC2154
# Sourced by rdma-bench: figures as a line each and as JSON, compared with the last and the best of the same pair, devices and
# settings, and kept: one file for a pair of hosts, a line of JSON for a run. These lines are read back by the form in which they are written.

json_number() { if [ "$1" = - ]; then printf null; else printf '%s' "$1"; fi; }
json_boolean() { if [ "$1" = 1 ]; then printf true; else printf false; fi; }

# What must be the same for two figures to be comparable.
describe_settings() {
  local field
  printf '"from":{"host":"%s","device":"%s","port":%s,"link":"%s","numa_node":%s},' "$(uname -n)" "$device" "$device_port" "$link_layer" \
    "$(json_number "$numa_node")"
  printf '"to":{"host":"%s","device":"%s","port":%s,"link":"%s","numa_node":%s},' "$peer_name" "$peer_has" "$peer_port" "$peer_link" \
    "$(if [ "$numa_wanted" = 1 ]; then json_number "$peer_node"; else printf null; fi)"
  printf '"settings":{"rdma_cm":%s' "$(json_boolean "$rdma_cm")"
  for field in tos seconds iterations depth outstanding cq_moderation mtu; do
    printf ',"%s":%s' "$field" "$(json_number "${!field}")"
  done
  printf '}'
}

open_history() { # sets before[FIGURE] to the last value of each, and best[FIGURE]
  local name last most
  settings=$(describe_settings)
  [ -d "$history" ] || mkdir -p "$history" || fail "cannot make the folder $history: name another by --history"
  history_file=$history/$(uname -n)--$peer_name.jsonl
  declare -gA before=() best=()
  runs_before=0
  [ -e "$history_file" ] || return 0
  if ! [ -r "$history_file" ] || ! [ -w "$history_file" ]; then
    fail "cannot read and write $history_file: name another folder by --history"
  fi
  grep -F -- "$settings" "$history_file" >"$work/before" || return 0
  runs_before=$(wc -l <"$work/before")
  time_before=$(tail -n 1 "$work/before" | sed 's/^{"time":"\([^"]*\)".*/\1/')
  while read -r name last most; do
    before[$name]=$last best[$name]=$most
  done < <(grep -o '{"name":"[^"]*","unit":"[^"]*","value":[^,}]*' "$work/before" |
    sed 's/^{"name":"\([^"]*\)","unit":"\([^"]*\)","value":\(.*\)$/\1 \2 \3/' |
    awk '!($1 in best) || ($2 == "us" ? $3 < best[$1] : $3 > best[$1]) { best[$1] = $3 }
      { last[$1] = $3 }
      END { for (name in last) print name, last[name], best[name] }')
}

say() { if [ "$as_json" = 1 ]; then printf '%s\n' "$*" >&2; else printf '%s\n' "$*"; fi; }

begin_report() {
  worse=() recorded=() reported=()
  say "from $(uname -n) $device/$device_port, GID $gid_index, to $peer_name $peer_has/$peer_port, GID $peer_gid_index, $link_layer, perftest\
 $(perftest_version) and $peer_version"
  [ "$numa_node" = - ] || say "bound to NUMA node $numa_node here"
  if [ "$runs_before" = 0 ]; then
    say "before: no run of this pair with these devices and settings yet"
  else
    say "before: last of $runs_before runs with these devices and settings, $time_before"
  fi
  say "$(printf '%-24s %12s %12s %9s %12s' figure now before change best)"
}

report() { # NAME UNIT VALUE DETAIL
  local name=$1 unit=$2 value=$3 detail=$4 old=${before[$1]:-} most=${best[$1]:-} change='' bad=0 shown text=''
  if [ -n "$old" ]; then
    # What is a little worse each time, or stays bad, is worse than the best, not than the last.
    read -r change bad < <(awk -v now="$value" -v old="$old" -v best="$most" -v unit="$unit" -v limit="${limit:--1}" 'BEGIN {
      if (old <= 0 || best <= 0) { print "0 0"; exit }
      loss = (now - best) * 100 / best
      if (unit != "us") loss = -loss
      printf "%.1f %d\n", (now - old) * 100 / old, (limit >= 0 && loss > limit + 0) }')
    shown=$(printf '%+.1f %%' "$change")
    [ "$bad" = 0 ] || {
      worse+=("$name") text='  worse'
    }
  fi
  if [ "$unit" = us ]; then
    detail="\"p99\":$detail" text="99th $4 us$text"
  else
    detail="\"messages\":$detail" text="$(awk -v rate="$4" 'BEGIN { printf "%.4g", rate / 1e6 }') M/s$text"
  fi
  recorded+=("{\"name\":\"$name\",\"unit\":\"$unit\",\"value\":$value,$detail}")
  reported+=("{\"name\":\"$name\",\"unit\":\"$unit\",\"value\":$value,$detail,\"before\":${old:-null},\"best\":${most:-null},\"change_percent\":${change:-null},\
\"worse\":$(json_boolean "$bad")}")
  say "$(printf '%-24s %12s %12s %9s %12s  %s' "$name" "$(printf '%.4g' "$value") $unit" "${old:+$(printf '%.4g' "$old") $unit}" "${shown:-}" \
    "${most:+$(printf '%.4g' "$most") $unit}" "$text")"
}

end_report() {
  local IFS=, head
  head="{\"time\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\",\"perftest\":\"$(perftest_version)\",$settings,\"figures\":["
  printf '%s%s]}\n' "$head" "${recorded[*]}" >>"$history_file" || fail "cannot write to $history_file"
  [ "$as_json" = 0 ] || printf '%s%s],"limit_percent":%s,"history":"%s"}\n' "$head" "${reported[*]}" "${limit:-null}" "$history_file"
  say "kept in $history_file"
  IFS=' '
  [ ${#worse[@]} -eq 0 ] || {
    say "worse than the best by more than $limit %: ${worse[*]}"
    exit 3
  }
}
