# Reads one repository on a host, as `git.rs` does here: names in the repository itself, all else with an empty repository in
# place of its configuration, which is made in a private directory and removed at the end. POSIX sh.
#
# Before it stand the nonce of the answer and the constants of git's commands; the words are the directory and the two
# commits whose distance is known. Each part of the answer ends with a line `NONCE NAME STATUS`.
end() { printf '\n%s %s %s\n' "$nonce" "$1" "$2"; }
stop() {
  end "$1" 1
  exit
}
set -f
umask 077
IFS=:
path=
for it in $PATH; do case $it in /*) path=$path${path:+:}$it ;; esac; done
unset IFS
cd -P -- "$1" 2>/dev/null || stop none
known=$2
root=$(pwd -P)
until [ -e "$root/.git" ] || [ -L "$root/.git" ]; do
  [ -n "$root" ] || stop none
  root=${root%/*}
done
root=${root:-/}
own=$(mktemp -d "${TMPDIR:-/tmp}/fleetwatch-XXXXXXXX" 2>/dev/null) && cd "$own" || stop place
trap 'cd / && rm -rf -- "$own"' EXIT
trap 'exit 1' HUP INT PIPE TERM
if timeout 1 true 2>/dev/null; then within() { timeout "$@"; }
elif command -v perl >/dev/null; then within() { perl -e 'alarm shift; exec @ARGV' "$@"; }
else stop deadline
fi
plain() { within "$seconds" env -i PATH="$path" $quiet "$@"; }
real() {
  plain HOME="$HOME" ${XDG_CONFIG_HOME+"XDG_CONFIG_HOME=$XDG_CONFIG_HOME"} \
    ${GIT_CONFIG_GLOBAL+"GIT_CONFIG_GLOBAL=$GIT_CONFIG_GLOBAL"} git --no-pager "$@"
}
beside() {
  plain $alone HOME="$own" XDG_CONFIG_HOME="$own" GIT_DIR="$own" GIT_WORK_TREE="$root" GIT_INDEX_FILE="$directory/index" \
    GIT_OBJECT_DIRECTORY="$common/objects" GIT_SHALLOW_FILE="$common/shallow" git --no-pager -C "$root" "$@"
}
# What a command prints, up to a number of bytes, and how it ended.
exec 4>&1
part() {
  name=$1 bytes=$2
  shift 2
  status=$({ { "$@" 2>/dev/null 4>&-; echo $? >&3; } | head -c "$bytes" >&4; } 3>&1)
  end "$name" "$status"
  # What is late once has cost enough time.
  case $status in 124 | 142) exit 0 ;; esac
}
printf %s "$root"
end root 0
real -C "$root" $resolve >names 2>said
status=$?
cat names
end names "$status"
head -c 4096 said
end said 0
{ IFS= read -r top && IFS= read -r directory && IFS= read -r common && IFS= read -r format; IFS= read -r head; IFS= read -r upstream; } <names
[ "$top" = "$root" ] || exit 0
case $common in /*) ;; *) common=$root/$common ;; esac
case $format in
  sha1) empty=$sha1 version=0 extensions= ;;
  sha256) empty=$sha256 version=1 extensions=$objects ;;
  *) exit 0 ;;
esac
is_hash() { [ "${#1}" -ge 40 ] && case $1 in *[!0-9a-f]*) false ;; esac; }
mkdir objects refs && printf 'ref: refs/heads/none\n' >HEAD &&
  printf '%s\trepositoryFormatVersion = %s\n%s' "$config" "$version" "$extensions" >config || stop place
case $form in --numstat*)
  part branch "$lines" real -C "$root" $branch
  if is_hash "$head" && is_hash "$upstream" && [ "$head $upstream" != "$known" ]; then
    part apart "$lines" beside rev-list --left-right --count "$head...$upstream" --
  fi ;;
esac
is_hash "$head" || head=$empty
part differing "$limit" beside $differing $form "$head" --
ignored=$(real config --global --type=path core.excludesFile 2>/dev/null | head -c 4096)
case $ignored in /*) ;; *) ignored=${XDG_CONFIG_HOME:-$HOME/.config}/git/ignore ;; esac
set --
for it in "$common/info/exclude" "$ignored"; do
  [ ! -f "$it" ] || set -- "$@" "--exclude-from=$it"
done
untracked() { beside $untracked "$@" >others || return; cat others; }
part untracked "$names" untracked "$@"
case $form in --patch*) ;; *) exit 0 ;; esac
# The beginnings of the first of them. A line break in a name is none that is found then.
place=0
tr '\012\000' '\000\012' <others | head -n "$files" | while IFS= read -r name; do
  if [ -f "$root/$name" ] && [ ! -L "$root/$name" ]; then
    within "$seconds" head -c "$file" "$root/$name" 2>/dev/null
    end "new-$place" "$?"
  fi
  place=$((place + 1))
done
exit 0
