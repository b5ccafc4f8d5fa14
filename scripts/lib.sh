# Shared by the scripts here and by .ci/run: messages and system packages.

say() { printf '==> %s\n' "$*"; }

die() {
  printf 'error: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '       %s\n' "$@" >&2
  exit 1
}

# True where system packages can be installed.
may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

# Install Debian packages; false if that fails.
install_packages() {
  say "Installing system packages: $*"
  apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Install Debian packages where that is allowed, else say which command installs them.
need_packages() {
  if may_install; then
    install_packages "$@"
  else
    die "system packages are missing: $*" "Install them, then try again:  sudo apt-get install -y $*"
  fi
}
