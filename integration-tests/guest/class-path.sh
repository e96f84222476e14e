# shellcheck shell=bash disable=SC2034
# Sourced at the root of the repository: finds a JDK, builds the integration tests, and sets what lib.sh sets.

. scripts/lib/jdk.sh

# As far as the jars: an earlier phase leaves the list of a build before, or one of folders that lack the plugin jar.
# Whoever runs several programs has it built once.
[ -n "${VERBATIM_BUILT:-}" ] ||
  ./mvnw --batch-mode --no-transfer-progress --quiet package -pl integration-tests -am -DskipTests

# shellcheck source=integration-tests/guest/lib.sh
. integration-tests/guest/lib.sh
