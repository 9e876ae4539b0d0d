#!/bin/sh
# Installs fleetwatch into ~/.local/bin, and changes nothing else:
#   curl -fsSL https://raw.githubusercontent.com/OWNER/fleetwatch/main/install.sh | sh
# FLEETWATCH_BIN names another directory, FLEETWATCH_RELEASES where the packages are; of an older release, for example,
# https://github.com/OWNER/fleetwatch/releases/download/v0.1.0
set -eu

releases=${FLEETWATCH_RELEASES:-https://github.com/OWNER/fleetwatch/releases/latest/download}
bin=${FLEETWATCH_BIN:-${HOME:?}/.local/bin}

fail() {
    printf 'error: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

fetch() { # NAME: into a file of that name
    if has curl; then
        curl -fsSL --retry 2 -o "$work/$1" -- "$releases/$1"
    elif has wget; then
        wget -qO "$work/$1" -- "$releases/$1"
    else
        fail 'neither curl nor wget is installed' 'install one of them'
    fi || fail "$releases/$1 cannot be fetched" 'check the network, or set FLEETWATCH_RELEASES'
}

sha256() {
    if has sha256sum; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# In a function, so that nothing of a script that was cut off in its transfer runs.
main() {
    case $(uname -s)-$(uname -m) in
    Linux-x86_64 | Linux-amd64) target=x86_64-unknown-linux-gnu ;;
    Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-gnu ;;
    Darwin-x86_64) target=x86_64-apple-darwin ;;
    Darwin-arm64) target=aarch64-apple-darwin ;;
    *) fail "there is no package for $(uname -s) on $(uname -m)" 'build it with: cargo install fleetwatch' ;;
    esac

    has sha256sum || has shasum ||
        fail 'neither sha256sum nor shasum is installed' 'install one: nothing is installed unverified'

    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    fetch SHA256SUMS
    # A line is a checksum and a name.
    line=$(grep -E "^[0-9a-f]{64} [ *]fleetwatch-[0-9A-Za-z.+-]+-$target\.tar\.gz$" "$work/SHA256SUMS" | head -n 1)
    [ -n "$line" ] || fail "the release has no package for $target" 'build it with: cargo install fleetwatch'
    sum=${line%% *}
    name=${line##*[ *]}

    fetch "$name"
    [ "$(sha256 "$work/$name")" = "$sum" ] ||
        fail "$name is not the file that SHA256SUMS names; nothing was installed" 'try again; if it stays so, report it'
    tar -xzf "$work/$name" -C "$work"
    mkdir -p "$bin"
    # Renamed in one step, so that a running fleetwatch is not disturbed.
    cp "$work/${name%.tar.gz}/fleetwatch" "$bin/.fleetwatch.new"
    chmod 755 "$bin/.fleetwatch.new"
    mv -f "$bin/.fleetwatch.new" "$bin/fleetwatch"

    version=$("$bin/fleetwatch" --version) || fail "$bin/fleetwatch does not run here"
    printf '%s is in %s\n' "$version" "$bin"
    case :$PATH: in
    *:"$bin":*) ;;
    *) printf "Add it to your PATH: export PATH=\"%s:\$PATH\"\\n" "$bin" ;;
    esac
    has tmux || printf 'It needs tmux 3.2 or newer.\n'
    printf 'See it at work: fleetwatch demo\n'
}

main
