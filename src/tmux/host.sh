# Runs programs on a host, one after the other, until standard input ends. POSIX sh; it writes no file and sets nothing.
#
# A request is a line `NONCE WORDS BYTES`, so many lines with a word of the program each, and so many bytes for its standard
# input. No word is read by a shell. The answer is, each mark on a line of its own:
#
#     NONCE out, what the program printed, NONCE err, its complaints and its exit status, NONCE end
#
# Neither a login's greeting nor a program can know the nonce of a request. There are no lengths of answers: sh could count
# bytes only in a file, or in a variable that loses some.
exec 3>&1
# It runs in a subshell of its own.
if [ "$(printf ab | head -c 1 2>/dev/null)" = a ]; then
  take() { exec head -c "$1"; }
else
  take() { exec dd ibs=1 obs=65536 count="$1" 2>/dev/null; }
fi
machine=
IFS= read -r machine 2>/dev/null </etc/machine-id
printf '\n%s begin %s %s\n' "$nonce" "$(uname -n)" "$machine"
while read -r nonce words bytes; do
  set --
  while [ "$words" -gt 0 ]; do
    IFS= read -r word || exit
    set -- "$@" "$word"
    words=$((words - 1))
  done
  printf '%s out\n' "$nonce"
  # Nothing of a request may be left for the next one, also when its program does not read it.
  said=$({ [ "$bytes" -eq 0 ] || take "$bytes"; } | {
    "$@" 2>&1 >&3 3>&-
    status=$?
    IFS= read -r rest && cat >/dev/null
    printf '\n%s' "$status"
  })
  printf '\n%s err\n%s\n%s end\n' "$nonce" "$said" "$nonce"
done
