# shellcheck shell=bash disable=SC2154,SC2034
# Sourced after options.sh, at the root of the repository: whole jobs under Spark's own shuffle and under Verbatim, by turns.

. scripts/lib/jdk.sh
. scripts/lib/spark-home.sh
. scripts/lib/comparison.sh

# The queries of TPC-DS that shuffle most for their time.
queries=q4,q11,q14a,q16,q17,q24a,q25,q29,q31,q39a,q50,q64,q65,q72,q74,q75,q78,q80,q93,q95
all_jobs=$queries,terasort:10000000x16,blocks:2000x2000

fail() {
  printf '%s\n' "$@" >&2
  exit 2
}

# prepare_jobs PREFIX SCALE JOBS: builds what the jobs need, and sets
#   comparison   the command that runs them, without where and with how much memory; its figures' names begin with PREFIX
prepare_jobs() {
  local prefix=$1 scale=$2 jobs=$3
  build_comparison
  generate_tpcds "$scale" "$jobs"
  # These flags are of the program that starts the applications.
  comparison=("$JAVA_HOME/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx256m
    -cp "$examples:$plugin:$SPARK_HOME/jars/*" dev.verbatim.examples.CompareShuffles
    --tpcds-jar "$tpcds_jar" --data "$PWD/work/data/scale-$scale" --jobs "$jobs" --plugin-jar "$plugin"
    --rounds "$rounds" --figure-prefix "$prefix")
}

# run_jobs PREFIX SCALE JOBS [OPTION...]: on two executors of this host, with C2 and the default collector, as users' have; adds the figures
# to $json.
run_jobs() {
  prepare_jobs "${@:1:3}"
  rm -rf work/spark-home/work
  "${comparison[@]}" --master 'local-cluster[2,1,4096]' --driver-memory 3g --timeout 60 \
    --logs "$PWD/work/logs/$(basename "$0")" ${json:+--figures "$json"} "${@:4}"
}
