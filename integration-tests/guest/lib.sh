# shellcheck shell=bash disable=SC2034
# Sourced at the root of the repository after the build (class-path.sh), also in a guest. Sets what a JVM in the guest needs:
#   target      the folder of what was built
#   class_path  of the tests and all that they use
#   work        for logs and reports; the host and its guests write to it

target=$PWD/integration-tests/target
class_path=$target/test-classes:$(<"$target/guest/classpath")
work=$target/guest/work
mkdir -p "$work/logs"

# Sets parts to the one that the first argument names, transport or spark, or to both; and options to the other arguments.
take_parts() { # ARGUMENT...
  parts=(transport spark)
  case ${1:-} in
    spark | transport)
      parts=("$1")
      shift
      ;;
  esac
  options=("$@")
}

# What stock Spark returns does not depend on the machine, and the host is many times faster.
compute_stock_results() {
  local complete=$work/stock/complete
  if [ -e "$complete" ] && [ -z "$(find "$target/test-classes" "$target/guest/classpath" -newer "$complete" -print -quit)" ]; then
    return
  fi
  rm -f "$complete"
  "$JAVA_HOME/bin/java" "@$target/guest/jvm.args" -Dverbatim.it.dir="$work" -cp "$class_path" \
    dev.verbatim.it.spark.fixture.StockSpark "$work/stock"
  : >"$complete"
}

# Sets junit to the command that runs the tests of a tag in a guest, where shuffle files are on its own ext4.
junit_command() { # TAG, options of Java...
  local tag=$1
  shift
  junit=("$JAVA_HOME/bin/java" "@$target/guest/jvm.args"
    -Dverbatim.it.dir="$work" -Dverbatim.it.stock="$work/stock" -Dverbatim.it.patience=20
    -Dspark.testing=true -Dspark.test.home=/var/tmp -Djava.io.tmpdir=/var/tmp "$@"
    -cp "$class_path" org.junit.platform.console.ConsoleLauncher execute
    --include-tag="$tag" --include-classname='.*Test'
    --details=testfeed --disable-banner --disable-ansi-colors --reports-dir="$work/reports/$tag")
}
