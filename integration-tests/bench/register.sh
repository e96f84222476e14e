# shellcheck shell=bash disable=SC2154,SC2034
# Sourced after options.sh and class-path.sh.

# prepare_register LINKED...: builds the counterpart in C with what is to be linked to it, and sets
#   jvm        a JVM with what the program needs
#   register   the program and the arguments that are the same on every device
prepare_register() {
  local sizes=${arguments[0]:-4096,16384,65536,262144,1048576,4194304,16777216,67108864,268435456,1073741824}
  mkdir -p "$target/bench"
  gcc -std=gnu11 -O2 -Wall -Wextra -Werror -o "$target/bench/register_cost" integration-tests/bench/register_cost.c "$@"
  jvm=("$JAVA_HOME/bin/java" -Xmx128m -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED -cp "$class_path")
  register=(dev.verbatim.bench.RegisterCost --rounds "$rounds" --sizes "$sizes" --program "$target/bench/register_cost")
}
