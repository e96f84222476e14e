# shellcheck shell=bash
# Sourced: sets JAVA_HOME to a JDK >= 25.0.3, looking at JAVA_HOME first, or says what to do.

# Services and containers may have none, and Maven needs it too.
export HOME=${HOME:-~}

verbatim_java_minimum=25.0.3

# The version that the JDK at $1 states in its release file, or nothing.
jdk_version() {
  sed -n 's/^JAVA_VERSION="\([0-9.]*\).*"/\1/p' "$1/release" 2>/dev/null
}

jdk_is_new_enough() {
  local version
  [ -x "$1/bin/javac" ] || return 1
  version=$(jdk_version "$1")
  [ -n "$version" ] || return 1
  [ "$(printf '%s\n%s\n' "$verbatim_java_minimum" "$version" | sort -V | head -n 1)" = "$verbatim_java_minimum" ]
}

find_jdk() {
  local candidate
  for candidate in "${JAVA_HOME:-}" /usr/lib/jvm/* /opt/java/* /opt/jdk* "$HOME"/.sdkman/candidates/java/* \
    "$(dirname "$(dirname "$(readlink -f "$(command -v javac || echo /nonexistent)")")")"; do
    if [ -n "$candidate" ] && jdk_is_new_enough "$candidate"; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

if verbatim_jdk=$(find_jdk); then
  [ -z "${JAVA_HOME:-}" ] || [ "$verbatim_jdk" = "$JAVA_HOME" ] ||
    echo "JAVA_HOME=$JAVA_HOME has no JDK >= $verbatim_java_minimum; using $verbatim_jdk" >&2
  export JAVA_HOME=$verbatim_jdk
else
  echo "No JDK >= $verbatim_java_minimum found (looked at JAVA_HOME, /usr/lib/jvm, /opt and PATH)." >&2
  echo "Install one, for example Eclipse Temurin 25 (package temurin-25-jdk from Adoptium's apt or yum" >&2
  echo "repository), then run: export JAVA_HOME=/path/to/jdk-25" >&2
  exit 1
fi
