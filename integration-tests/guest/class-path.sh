# shellcheck shell=bash disable=SC2034
# Sourced at the root of the repository: finds a JDK, builds the integration tests, and sets what a JVM in the guest needs:
#   target      the folder of what was built
#   class_path  of the tests and all that they use

. scripts/lib/jdk.sh

# As far as the jars: an earlier phase leaves the list of a build before, or one of folders that lack the plugin jar.
./mvnw --batch-mode --no-transfer-progress --quiet package -pl integration-tests -am -DskipTests

target=$PWD/integration-tests/target
class_path=$target/test-classes:$(<"$target/guest/classpath")
