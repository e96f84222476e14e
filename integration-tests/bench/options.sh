# shellcheck shell=bash disable=SC2034
# Sourced with the arguments of a bench: bench [--rounds N] [--json FILE] [[--] ARGUMENT...]. Sets
#   rounds     how often each side is measured, by turns; 5 unless said otherwise
#   json       file to which figures are added, one JSON object a line (FigureFile), as an absolute path; or nothing
#   arguments  the others
# and exports VERBATIM_COMMIT, which figures are told to be of; a guest is given it.

rounds=5 json='' arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --rounds | --json)
      [ $# -ge 2 ] || {
        echo "$1 needs a value" >&2
        exit 2
      }
      if [ "$1" = --rounds ]; then rounds=$2; else json=$(realpath -m -- "$2"); fi
      shift
      ;;
    --)
      arguments+=("${@:2}")
      break
      ;;
    --*)
      echo "unknown option $1; see the comment on top of $0" >&2
      exit 2
      ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
[[ $rounds =~ ^[1-9][0-9]{0,2}$ ]] || {
  echo "--rounds wants a number from 1 to 999, not '$rounds'" >&2
  exit 2
}

if [ -z "${VERBATIM_COMMIT:-}" ]; then
  # shellcheck source=scripts/lib/comparison.sh
  VERBATIM_COMMIT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && . scripts/lib/comparison.sh && commit_of_checkout)
  export VERBATIM_COMMIT
fi
