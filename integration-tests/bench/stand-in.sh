# shellcheck shell=bash disable=SC2154
# Sourced after options.sh, for a bench on this host over the stand-in device.

# use_stand_in LIBRARIES MODEL: lets this script's programs find the device. MODEL may be empty.
use_stand_in() {
  fabric=$(mktemp -d /tmp/standin-XXXXXX) # names of sockets must be short
  trap 'rm -rf "$fabric"' EXIT
  export LD_LIBRARY_PATH=$1 VERBATIM_STANDIN_DIR=$fabric
  [ -z "$2" ] || export VERBATIM_STANDIN_MODEL=$2
}

# model_card [MODEL]: builds the device below work/, and lets this script's programs find it as a model of a network card. At the root
# of the repository.
model_card() {
  make --quiet -C integration-tests/stand-in OUT="$PWD/work/stand-in"
  use_stand_in "$PWD/work/stand-in" "${1:-latency_us=3 gbps=100}"
}

# spark_on_stand_in CLASS ARGUMENT...: ends with a program whose Spark applications give the device to their executors.
# After class-path.sh.
spark_on_stand_in() {
  local work=$target/bench
  mkdir -p "$work/tmp"
  exec "$JAVA_HOME/bin/java" "@$target/guest/jvm.args" -Dverbatim.it.dir="$work" -Djava.io.tmpdir="$work/tmp" \
    -Dverbatim.it.standIn="$target/stand-in" -Dspark.testing=true -Dspark.test.home="$work" \
    -cp "$class_path" "$1" --rounds "$rounds" ${json:+--json "$json"} "${@:2}"
}
