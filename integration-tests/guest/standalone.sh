# shellcheck shell=bash disable=SC2154
# Sourced in either of two guests, at the root of the repository: a standalone Spark with a Worker in each guest. What uses it runs
# in the first, and the Master in the second, which has less to do. Wants
#   work     folder for logs and what the Workers write; the guests share it
#   hosts    names or addresses of the guests, the first's first; they decide by which wire Spark's own connections go
#   daemon   the JVM of Master and Workers, with its options and class path
#   SPARK_HOME (exported) whose jars the executors have

number=${VERBATIM_RDMA_ADDRESS##*.}
host=${hosts[number - 1]}
master=${hosts[1]}
spark_ended=$work/wire-spark-ended
daemons=()

# An emulated processor may stand still: a Master that waits two minutes for its own answer ends.
start_daemon() { # name, class, arguments...
  local name=$1
  shift
  SPARK_SCALA_VERSION=2.13 SPARK_LOCAL_DIRS=/var/tmp/local "${daemon[@]}" -Dspark.network.timeout=600s "$@" \
    >"$work/logs/wire-$name.log" 2>&1 &
  daemons+=($!)
}

end_spark() {
  : >"$spark_ended"
  kill "${daemons[@]}" 2>/dev/null || true
}

# A Worker that asks before there is a Master waits for many seconds until it asks again; a driver asks three times in a
# minute, and gives up.
await_master() {
  until (: <"/dev/tcp/$master/7077") 2>/dev/null; do
    sleep 0.5
  done
}

start_worker() {
  start_daemon "worker-$number" org.apache.spark.deploy.worker.Worker --host "$host" --cores 1 --memory 1g \
    --webui-port 0 --work-dir "$work/worker-$number" "spark://$master:7077"
}

# beside_workers COMMAND...: in the first guest runs the command; in the second serves until that has ended.
beside_workers() {
  trap end_spark EXIT
  if [ "$number" = 2 ]; then
    start_daemon master org.apache.spark.deploy.master.Master --host "$master" --port 7077 --webui-port 0
    await_master
    start_worker
    until [ -e "$spark_ended" ]; do
      sleep 1
    done
  else
    mkdir -p "$work"/worker-{1,2}
    await_master
    start_worker
    "$@"
  fi
  trap - EXIT
  end_spark
}
