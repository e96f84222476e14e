# shellcheck shell=bash disable=SC2154,SC2034
# What a comparison of shuffle managers needs. Sourced at the root of the repository, after jdk.sh and spark-home.sh, by a
# script with fail MESSAGE...; everything is kept below work/ and used again.

# build_comparison: builds the programs and a runnable Spark. Sets examples and plugin (class paths), tpcds_jar, SPARK_HOME.
build_comparison() {
  mkdir -p work/logs
  ./mvnw --batch-mode --quiet --no-transfer-progress package -pl shuffle-manager,examples -am \
    -Dmaven.test.skip=true -Dspotless.check.skip=true 2>&1 | tee work/logs/build.log ||
    fail "The build failed (log: work/logs/build.log)." \
      "If a download failed, check the connection to Maven Central (proxy settings go to ~/.m2/settings.xml) and run again."
  examples=$(one_jar examples/target/examples-*.jar):$(printf '%s:' "$PWD"/examples/target/lib/*.jar)
  examples=${examples%:}
  plugin=$(one_jar shuffle-manager/target/shuffle-manager-*.jar)
  tpcds_jar=$PWD/examples/target/tpcds/spark-sql-tests.jar
  assemble_spark_home work/spark-home ||
    fail "Copying Spark's jars failed; with the connection to Maven Central restored, run again."
  export SPARK_HOME=$PWD/work/spark-home
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

# generate_tpcds SCALE QUERIES: TPC-DS tables that the queries read, in work/data/scale-SCALE.
generate_tpcds() {
  "$SPARK_HOME/bin/spark-submit" --master 'local[*]' --driver-memory 2g --driver-class-path "$examples" \
    --class dev.verbatim.examples.tpcds.GenerateTpcds spark-internal \
    --tpcds-jar "$tpcds_jar" --scale "$1" --queries "$2" --output "work/data/scale-$1" 2> work/logs/generate.log ||
    {
      tail -n 20 work/logs/generate.log >&2
      fail "Generating data failed, see above (all of it: work/logs/generate.log). Put it right and run again; what is done stays."
    }
}
