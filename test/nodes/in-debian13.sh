#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Builds mcr in a Debian 13 root and runs tests there; test/nodes by default, for another Slurm, compiler and HDF5.
set -euo pipefail
export LC_ALL=C.UTF-8

usage() {
  cat <<'TEXT'
test/nodes/in-debian13.sh [--root DIR] [WORDS]   ./bootstrap test WORDS (default: nodes/) in a Debian 13 root; returns its status
test/nodes/in-debian13.sh [--root DIR] --run COMMAND…   another command there, in the copy of this source: test/compilers --install.
                                                         Only after `./bootstrap test` there (the first form), which installs what a build needs

  --root DIR  the root is in DIR, which is made with mmdebstrap if it is not there (default: ~/.cache/mcr/debian13)

  What is copied are the files that git tracks, as they are in the work tree. The root and the build in it are kept: a
  second run compiles only what has changed. `rm -r DIR` makes the next run begin anew.

  It needs root, mmdebstrap, the Debian mirror of this machine's apt, and 4 GB of disk.
TEXT
}

say() { printf 'mcr: %s\n' "$*"; }
die() { # message, remedy
  printf 'mcr: error: %s\nmcr: remedy: %s\n' "$1" "$2" >&2
  exit 1
}

here=/usr/src/mcr # in the root

# --- the first process in the namespaces ------------------------------------------------------------------------
# All mounts are made here, in a mount namespace of their own. They are gone when the last process in it is gone, and
# these processes are killed with the first one.

make_root() { # directory; complete or not there
  local root=$1 mirror
  command -v mmdebstrap > /dev/null || die "mmdebstrap is not here" "apt-get install mmdebstrap"
  # shellcheck disable=SC2016 # apt's own names
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(LABEL)' 'Created-By: Packages' | awk '$2 == "Debian" && !found { print $1; found = 1 }')
  [ -n "$mirror" ] || die "this machine's apt names no Debian mirror" "apt-get update, or mend the package sources"
  say "making a Debian 13 root in $root (once; about a minute)"
  rm -rf --one-file-system "$root.partial"
  mmdebstrap --quiet --mode=root --variant=minbase --include=ca-certificates trixie "$root.partial" "$mirror"
  mv -T "$root.partial" "$root"
}

enter_root() { # directory: makes it this namespace's /, because `nsenter --mount` leaves a mere chroot
  local root=$1 folder
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  for folder in sys dev; do mount --rbind "/$folder" "$root/$folder"; done # with the control groups
  mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
  mount -t tmpfs -o mode=755 run "$root/run"
  cd "$root"
  pivot_root . mnt
  cd /
  umount --lazy /mnt
}

inside() { # root, source, command…
  local root=$1 source=$2 file
  shift 2
  # apt and dpkg of the machine must not look for processes of another namespace.
  mount -t proc proc /proc
  [ -d "$root" ] || make_root "$root"
  # Names, certificates and registries are this machine's. The package ca-certificates is in the root already, because its
  # installation writes the list of certificates.
  for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt /etc/pip.conf; do
    [ ! -e "$file" ] || install -D -m 644 "$file" "$root$file"
  done
  mkdir -p "$root$here"
  find "$root$here" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf --one-file-system {} +
  git -C "$source" ls-files -z | tar -C "$source" --null --files-from=- --ignore-failed-read --owner=0 --group=0 -cf - | tar -C "$root$here" -xf -
  enter_root "$root"
  cd "$here"
  # Bash stays the first process, because that one has to reap what other processes leave.
  HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@" || return
}

if [ "${1:-}" = --inside ]; then
  shift
  inside "$@"
  exit
fi

# --- command line -----------------------------------------------------------------------------------------------

root=${XDG_CACHE_HOME:-${HOME:?HOME is not set: needed to find the cache}/.cache}/mcr/debian13 words=() command=()
while [ $# -gt 0 ]; do
  case $1 in
    help | -h | --help) usage; exit 0 ;;
    --root) [ $# -ge 2 ] || die "--root needs a directory" "test/nodes/in-debian13.sh --help"; root=$2; shift ;;
    --root=*) root=${1#*=} ;;
    --run) [ $# -ge 2 ] || die "--run needs a command" "test/nodes/in-debian13.sh --help"; command=("${@:2}"); break ;;
    -*) usage >&2; die "unknown option '$1'" "see above" ;;
    *) words+=("$1") ;;
  esac
  shift
done
[ ${#words[@]} -gt 0 ] || words=(nodes/)
[ ${#command[@]} -gt 0 ] || command=(./bootstrap test "${words[@]}")
[ "$(id -u)" -eq 0 ] || die "namespaces and the root's files need root" "run it as root"
root=$(realpath -m "$root")
[ "$root" != / ] || die "/ is this machine's own root" "give another directory to --root"
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")

mkdir -p "$(dirname "$root")"
exec {lock}> "$root.lock" # kept by all that is started below
flock --nonblock "$lock" || die "$root is in use by another run" "wait for its end, or give another directory to --root"

# In the background, because bash would not run the trap before a command in the foreground has ended. That ignores SIGINT in the
# command, and unshare's child as the first process of its namespace ignores all signals but SIGKILL.
setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child \
  env -u MCR_BUILD --default-signal=INT,QUIT bash "${BASH_SOURCE[0]}" --inside "$root" "$source" "${command[@]}" &
first=$!
end() { # status
  trap '' INT TERM HUP
  kill -KILL "$first" 2> /dev/null || true
  wait "$first" 2> /dev/null || true
  exit "$1"
}
trap 'end 130' INT
trap 'end 143' TERM
trap 'end 129' HUP
wait "$first"
