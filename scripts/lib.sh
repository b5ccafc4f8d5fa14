# Shared by the scripts here and by .ci/run: messages and system packages.

say() { printf '==> %s\n' "$*"; }

die() {
  printf 'error: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '       %s\n' "$@" >&2
  exit 1
}

# Install Debian packages when root, else say which command installs them.
need_packages() {
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "Installing system packages: $*"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  else
    die "system packages are missing: $*" "Install them, then try again:  sudo apt-get install -y $*"
  fi
}
