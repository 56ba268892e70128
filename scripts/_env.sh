# Shared by the scripts beside it: `. scripts/_env.sh` from the top folder, then `install_lock NAME`.
#
# DULY_PYTHON  the interpreter to use (default: the first of python3, python3.13, … that is 3.11 or newer)
# DULY_VENV    the environment's folder (default: .venv)
# DULY_APT=no  never install Debian packages, even as root
# shellcheck shell=sh

say() { echo "$0: $*" >&2; }

may_apt() {
    [ "${DULY_APT:-yes}" != no ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1
}

# Install Debian packages; the package lists are renewed only when the ones at hand do not do.
# RUNLEVEL=1 asks Debian not to start the daemons of what it installs: tests start their own.
apt_install() {
    say "installing Debian packages: $*"
    for try in as-is updated; do
        [ "$try" = as-is ] || apt-get update -qq >&2 || return 1
        if RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1; then
            return 0
        fi
    done
    say "apt-get could not install: $*"
    return 1
}

# Install the servers and programs that tests start, where they are absent and packages may be installed.
install_servers() {
    missing=""
    ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null 2>&1 || missing="postgresql"
    PATH=$PATH:/usr/sbin command -v pgbouncer >/dev/null 2>&1 || missing="$missing pgbouncer"
    command -v redis-server >/dev/null 2>&1 || command -v valkey-server >/dev/null 2>&1 || missing="$missing redis-server"
    command -v promtool >/dev/null 2>&1 || missing="$missing prometheus"
    command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || missing="$missing chromium"
    ls /usr/lib/rabbitmq/lib/*/sbin/rabbitmq-server >/dev/null 2>&1 || missing="$missing rabbitmq-server"
    [ -n "$missing" ] || return 0
    # shellcheck disable=SC2086 # a list of package names
    if ! may_apt || ! apt_install $missing; then
        say "not on this machine, so tests that need them are skipped and counted:" $missing
    fi
}

is_python() {
    command -v "$1" >/dev/null 2>&1 && "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# Sets $python to an interpreter that is new enough and can make environments.
find_python() {
    for round in look install; do
        for python in ${DULY_PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
            if is_python "$python" && "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
                return 0
            fi
        done
        if [ "$round" = look ] && [ -z "${DULY_PYTHON:-}" ] && may_apt; then
            apt_install python3 python3-venv || break
        fi
    done
    say "needs Python 3.11 or newer with its venv module (Debian: apt-get install python3 python3-venv)"
    exit 1
}

# What an environment was made from: a lock's bytes, the project's metadata and the interpreter.
stamp_of() {
    { cat "requirements/$1.txt" pyproject.toml; "$venv/bin/python" -VV; pwd; } | cksum
}

is_installed() {
    [ -f "$venv/.duly-$1" ] && [ "$(cat "$venv/.duly-$1")" = "$(stamp_of "$1")" ]
}

# Sets $venv to an environment that holds the lock requirements/NAME.txt and the project itself.
# Two scripts started at once take turns, where the machine has flock.
install_lock() {
    venv=${DULY_VENV:-.venv}
    if command -v flock >/dev/null 2>&1; then
        (flock 9; install_lock_alone "$1") 9>"$(dirname "$venv")/.duly-install"
    else
        install_lock_alone "$1"
    fi
}

install_lock_alone() {
    if ! [ -x "$venv/bin/python" ] || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        find_python
        say "making $venv with $("$python" --version)"
        "$python" -m venv --clear "$venv"
    fi
    # A larger lock holds a smaller one at the same versions.
    case $1 in
        serve) holders="serve test bench" ;;
        test) holders="test bench" ;;
        *) holders=$1 ;;
    esac
    for holder in $holders; do
        if is_installed "$holder"; then
            return 0
        fi
    done
    say "installing requirements/$1.txt"
    "$venv/bin/python" -m pip install -qq --disable-pip-version-check --require-hashes -r "requirements/$1.txt"
    "$venv/bin/python" -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
    rm -f "$venv"/.duly-*
    stamp_of "$1" >"$venv/.duly-$1"
}
