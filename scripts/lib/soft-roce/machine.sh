# shellcheck shell=bash disable=SC2154 # the variables are those of scripts/soft-roce
# Sourced by scripts/soft-roce: starts the guests by QEMU, watches them and ends them.

# When one command failed the other often waits for it in vain; so many seconds it may still go on.
peer_grace=60

# Emulated, string instructions work byte by byte and each protection costs on every system call: without these the
# kernel zeroes and copies memory three times as fast. AVX stays, javac is slower without. PCLMULQDQ is a loop over 64 bits
# there: without it the kernel takes the checksum of each RoCE packet from a table.
emulated_cpu=max,erms=off,pclmulqdq=off,la57=off,smap=off,smep=off,pku=off,umip=off,mpx=off,svm=off
emulated_options='init_on_alloc=0 clearcpuid=rep_good'

# Sets accelerator and cpu. A /dev/kvm that exists may still not be able to run this kernel, hence a real boot, once.
choose_accelerator() {
  accelerator=tcg cpu=$emulated_cpu
  case ${SOFT_ROCE_ACCEL:-} in
    tcg) return ;;
    kvm) accelerator=kvm cpu=host ;;
    '') [ -r /dev/kvm ] && [ -w /dev/kvm ] || return 0 ;;
    *) die "SOFT_ROCE_ACCEL must be tcg or kvm, not '$SOFT_ROCE_ACCEL'" ;;
  esac
  local answer key kernel=${image##*/}
  key=$( (uname -r && grep -m 1 'model name' /proc/cpuinfo && qemu-system-x86_64 --version && echo "${kernel%-*}") |
    sha256sum | cut -c 1-12)
  answer=$cache/kvm.$key
  if [ ! -e "$answer" ]; then
    # Renamed, so that nobody takes an unfinished answer for a no.
    probe_kvm >"$answer.$$"
    mv "$answer.$$" "$answer"
  fi
  read -r answer <"$answer" || true
  if [ -n "$answer" ]; then
    accelerator=kvm cpu=$answer
  fi
}

# Prints the -cpu that boots the kernel under KVM, or an empty line.
probe_kvm() {
  local model console tries pid
  say "trying KVM (once)"
  console=$(mktemp)
  for model in host host,arch-capabilities=off; do
    : >"$console"
    setpriv --pdeathsig KILL qemu-system-x86_64 -M q35 -accel kvm -cpu "$model" -m 512 -nodefaults -display none \
      -no-reboot -serial "file:$console" -kernel "$image/vmlinuz" -initrd "$image/initramfs.cpio" \
      -append 'console=ttyS0 panic=-1 soft-roce.probe' >"$console.qemu" 2>&1 </dev/null &
    pid=$!
    disown
    for tries in {1..50}; do
      kill -0 "$pid" 2>/dev/null && ! grep -q 'internal error' "$console.qemu" || break
      sleep 0.2
    done
    kill -KILL "$pid" 2>/dev/null || true
    if grep -q SOFT-ROCE-PROBE-OK "$console"; then
      echo "$model"
      break
    fi
  done
  rm -f "$console" "$console.qemu"
}

# Two emulated processors on two threads are faster while the host has time for both, and many times slower when it
# has not: one then spins in wait of the other, which is not running. On one thread they take turns at once.
choose_threads() {
  threads=${SOFT_ROCE_THREADS:-}
  case $threads in
    single | multi) return ;;
    '') ;;
    *) die "SOFT_ROCE_THREADS must be single or multi, not '$threads'" ;;
  esac
  threads=multi
  if [ -r /proc/pressure/cpu ]; then
    local before after
    before=$(waited_for_processor)
    sleep 1
    after=$(waited_for_processor)
    # More than half of that second somebody waited.
    if [ $((after - before)) -gt 500000 ]; then
      threads=single
    fi
  fi
}

# Prints the microseconds in which any process of the host waited for a processor; empty where that is not counted.
waited_for_processor() { sed -n 's/^some .*total=//p' /proc/pressure/cpu 2>/dev/null || true; }

quote_path() { printf '%s\n' "${1//,/,,}"; }

start_guest() { # number
  local number=$1 index host mode options
  options='console=ttyS0 panic=-1 oops=panic quiet mitigations=off nowatchdog'
  if [ "$accelerator" = tcg ]; then
    # The host's clock counts on even when an emulated processor stands still.
    options+=" tsc=reliable $emulated_options${clock_options[$number]:-}"
  fi
  local arguments=(
    -name "soft-roce-$number" -M q35 -cpu "$cpu" -smp "$cpus" -m "$memory" -nodefaults -display none -no-reboot
    -sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny
    -kernel "$image/vmlinuz" -initrd "$image/initramfs.cpio"
    -drive "file=$(quote_path "$image/root.ext4"),format=raw,if=none,id=root,snapshot=on,cache=unsafe"
    -device virtio-blk-pci,drive=root,discard=off,write-zeroes=off
    -fsdev "local,id=control,path=$(quote_path "$control"),security_model=none"
    -device virtio-9p-pci,fsdev=control,mount_tag=control
    -append "$options soft-roce.number=$number"
  )
  if [ "$accelerator" = kvm ]; then
    arguments+=(-accel kvm)
  else
    arguments+=(-accel "tcg,thread=$threads")
  fi
  for index in "${!share_paths[@]}"; do
    IFS=$'\t' read -r host mode <<<"${share_of[${share_paths[$index]}]}"
    [ "$mode" = ro ] && mode=,readonly=on || mode=
    arguments+=(
      -fsdev "local,id=s$index,path=$(quote_path "$(realpath "$host")"),security_model=none,multidevs=remap$mode"
      -device "virtio-9p-pci,fsdev=s$index,mount_tag=s$index"
    )
  done
  [ "$guests" = 1 ] || join_guests
  # In the run's folder, as a socket's path must be short; the overlay's file goes there too, without a name.
  local emulator=(env "TMPDIR=$run" setpriv --pdeathsig KILL qemu-system-x86_64 "${arguments[@]}")
  if [ -n "$interactive" ]; then
    (cd "$run" && "${emulator[@]}" -serial mon:stdio)
    return
  fi
  (cd "$run" && exec "${emulator[@]}" -serial "file:$run/console.$number") </dev/null >"$run/qemu.$number" 2>&1 &
  guest_pids[number]=$!
  disown
}

# Two wires: one with RDMA, and one for the host names, which stays when a test takes the other down.
join_guests() {
  local wire
  for wire in 0 1; do
    arguments+=(
      -netdev "dgram,id=w$wire,local.type=unix,local.path=wire.$wire.$number"
      -device "virtio-net-pci,netdev=w$wire,mac=52:54:00:77:0$wire:0$number,romfile="
    )
    arguments[${#arguments[@]} - 3]+=",remote.type=unix,remote.path=wire.$wire.$((3 - number))"
  done
}

# Copies what the command prints to stdout as it comes, until the guest is gone.
follow_output() { # number
  local number=$1
  local follow=(setpriv --pdeathsig TERM tail -c +1 -s 0.1 -f "--pid=${guest_pids[$1]}" "$control/output.$1")
  if [ "$guests" = 1 ]; then
    "${follow[@]}" &
  else
    "${follow[@]}" | sed -u "s/^/[$number] /" &
  fi
  tail_pids[number]=$!
}

is_up() { kill -0 "${guest_pids[$1]}" 2>/dev/null; }

# Starts a guest again that has ended before its command could begin, where that helps: it found its clock wrong, and has measured
# the right frequency; or its kernel panicked, as an emulated processor now and then runs into an instruction that another one is
# just changing.
restart_guest() { # number
  if [ -e "$control/khz.$1" ]; then
    clock_options[$1]=" tsc_early_khz=$(cat "$control/khz.$1") soft-roce.clock-known"
    rm "$control/khz.$1"
  elif [ ! -e "$control/ready.$1" ] && [ "${panics[$1]:-0}" -lt 2 ] && grep -q 'Kernel panic' "$run/console.$1"; then
    panics[$1]=$((${panics[$1]:-0} + 1))
    say "guest $1: its kernel panicked at boot; it is started again ($(grep -m 1 -oE 'Oops: .*|Kernel panic.*' "$run/console.$1"))"
  else
    return 0
  fi
  start_guest "$1"
  follow_output "$1"
}

stop_guests() {
  local number tries
  for number in "${!guest_pids[@]}"; do
    for tries in {1..50}; do
      kill -KILL "${guest_pids[$number]}" 2>/dev/null || break
      sleep 0.1
    done
  done
}

# Waits for the guests to end, or ends them, and exits with what the commands said.
watch_guests() {
  local began=$SECONDS number up ready ended failed failed_at='' ended_at='' timed_out=''
  while :; do
    up=0 ready=0 ended=0 failed=0
    for ((number = 1; number <= guests; number++)); do
      is_up "$number" || restart_guest "$number"
      if is_up "$number"; then
        up=$((up + 1))
      fi
      [ ! -e "$control/ready.$number" ] || ready=$((ready + 1))
      if [ -e "$control/code.$number" ]; then
        ended=$((ended + 1))
        grep -qx 0 "$control/code.$number" || failed=1
      elif ! is_up "$number"; then
        ended=$((ended + 1)) failed=1
      fi
    done
    [ "$up" -gt 0 ] || break
    [ "$ready" -lt "$guests" ] || [ -e "$control/go" ] || : >"$control/go"
    if [ "$ended" = "$guests" ]; then
      : "${ended_at:=$SECONDS}"
      [ -e "$control/release" ] || : >"$control/release"
      # Powering off takes a second or two.
      [ $((SECONDS - ended_at)) -lt 30 ] || break
    elif [ "$failed" = 1 ]; then
      : "${failed_at:=$SECONDS}"
      if [ $((SECONDS - failed_at)) -ge "$peer_grace" ]; then
        say "one guest failed, the other did not end within $peer_grace s after that"
        break
      fi
    fi
    if [ $((SECONDS - began)) -ge "$limit" ]; then
      timed_out=yes
      break
    fi
    sleep 0.2
  done
  stop_guests
  wait "${tail_pids[@]}" || true
  local code=0
  [ -z "$timed_out" ] || say "timeout: not ended after $limit s (--timeout)"
  for ((number = 1; number <= guests; number++)); do
    explain_end "$number"
    [ "$code" != 0 ] || code=$guest_code
  done
  [ -z "$timed_out" ] || code=124
  exit "$code"
}

# Sets guest_code; where the guest and not the command failed, says how.
explain_end() { # number
  local log
  if [ -e "$control/code.$1" ]; then
    read -r guest_code <"$control/code.$1"
    return
  fi
  guest_code=125
  log=$cache/logs/$(date +%Y%m%d-%H%M%S)-$$-guest$1.log
  cat "$run/qemu.$1" "$run/console.$1" >"$log" 2>/dev/null || true
  if [ -e "$control/error.$1" ]; then
    say "guest $1: $(cat "$control/error.$1") (log: $log)"
  elif [ -e "$control/started.$1" ]; then
    say "guest $1 was ended or crashed before its command ended (log: $log)"
  else
    say "guest $1 did not start its command (log: $log)"
  fi
}

end_run() {
  local code=$?
  trap '' INT TERM HUP
  stop_guests
  [ -z "${run:-}" ] || rm -rf "$run"
  find "$cache/logs" -type f -mtime +7 -delete
  exit "$code"
}
