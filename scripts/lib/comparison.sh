# shellcheck shell=bash disable=SC2154,SC2034
# What a comparison of shuffle managers needs. Sourced at the root of the repository, after jdk.sh and spark-home.sh, by a
# script with fail MESSAGE...; everything is kept below work/ and used again.

# build_comparison: builds the programs and a runnable Spark. Sets examples and plugin (class paths), tpcds_jar, SPARK_HOME.
build_comparison() {
  mkdir -p work/logs
  lock_checkout
  ./mvnw --batch-mode --quiet --no-transfer-progress package -pl shuffle-manager,examples -am \
    -Dmaven.test.skip=true -Dspotless.check.skip=true 2>&1 | tee work/logs/build.log ||
    fail "The build failed (log: work/logs/build.log)." \
      "If a download failed, check the connection to Maven Central (proxy settings go to ~/.m2/settings.xml) and run again."
  examples=$(one_jar examples/target/examples-*.jar)
  examples+=$(printf ':%s' "$PWD"/examples/target/lib/*.jar)
  plugin=$(one_jar shuffle-manager/target/shuffle-manager-*.jar)
  tpcds_jar=$PWD/examples/target/tpcds/spark-sql-tests.jar
  assemble_spark_home work/spark-home ||
    fail "Copying Spark's jars failed; with the connection to Maven Central restored, run again."
  export SPARK_HOME=$PWD/work/spark-home
}

# Held until this script has ended, or the program in its place: a build would replace the jars that another run's executors read.
lock_checkout() {
  [ -z "${checkout_lock:-}" ] || return 0
  exec {checkout_lock}> work/comparison.lock
  flock --nonblock "$checkout_lock" ||
    fail "Another comparison runs in this checkout, or what it has started: work/comparison.lock is held. Wait for it, or use another checkout."
}

# The jar that the build left, and not one of its tests or sources.
one_jar() { # pattern's matches
  local jar
  for jar in "$@"; do
    case $jar in
      *-tests.jar | *-sources.jar | *-javadoc.jar) ;;
      *)
        [ ! -f "$jar" ] || {
          printf '%s\n' "$PWD/$jar"
          return
        }
        ;;
    esac
  done
  fail "The build left no $1; remove the target/ folders and run again."
}

# generate_tpcds SCALE JOBS [DIR]: TPC-DS tables that the queries among the jobs read, in DIR, or in work/data/scale-SCALE.
generate_tpcds() {
  local queries
  queries=$(tr , '\n' <<< "$2" | grep -E '^(q|all$)' | paste -sd, || true)
  [ -n "$queries" ] || return 0
  "$SPARK_HOME/bin/spark-submit" --master 'local[*]' --driver-memory 2g --driver-class-path "$examples" \
    --class dev.verbatim.examples.tpcds.GenerateTpcds spark-internal \
    --tpcds-jar "$tpcds_jar" --scale "$1" --queries "$queries" --output "${3:-work/data/scale-$1}" 2> work/logs/generate.log ||
    {
      tail -n 20 work/logs/generate.log >&2
      fail "Generating data failed, see above (all of it: work/logs/generate.log). Put it right and run again; what is done stays."
    }
}

# The commit of this checkout, for reports.
commit_of_checkout() {
  local commit
  commit=$(git rev-parse --short HEAD 2> /dev/null || echo unknown)
  [ -z "$(git status --porcelain --untracked-files=no 2> /dev/null)" ] || commit+=' with changes'
  printf '%s\n' "$commit"
}

# comparison_command OUT DATA JOBS OPTION...: sets command to what compares the shuffles; JSON, page and logs go to OUT.
comparison_command() {
  local out=$1 data=$2 jobs=$3
  shift 3
  mkdir -p "$out"
  # The flags are of the program that starts the applications.
  command=("$JAVA_HOME/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx256m
    -cp "$examples:$plugin:$SPARK_HOME/jars/*" dev.verbatim.examples.CompareShuffles
    --tpcds-jar "$tpcds_jar" --data "$data" --jobs "$jobs" --plugin-jar "$plugin" --commit "$(commit_of_checkout)"
    --logs "$out" --json "$out/comparison.json" --html "$out/comparison.html" "$@")
}
