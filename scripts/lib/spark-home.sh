# shellcheck shell=bash
# Sourced, after jdk.sh and in the root of the repository: a runnable Spark out of Maven artifacts.

# assemble_spark_home DIR: fills DIR with jars/ (278 MB) and bin/spark-submit, or does nothing where it is whole for this
# version. Spark's local-cluster writes its executors' logs to DIR/work.
assemble_spark_home() {
  local home version
  mkdir -p "$1/bin"
  home=$(cd "$1" && pwd)
  version=$(cat scripts/lib/spark-home/pom.xml && grep -E '<(spark.version|scala.binary)>' pom.xml)
  if [ "$(cat "$home/.complete" 2> /dev/null)" != "$version" ]; then
    rm -rf "$home/jars"
    ./mvnw --batch-mode --quiet --no-transfer-progress -f scripts/lib/spark-home/pom.xml package \
      -Dspark.home="$home" || return
    printf '%s\n' "$version" > "$home/.complete"
  fi
  install -m 755 scripts/lib/spark-home/spark-submit "$home/bin/"
}
