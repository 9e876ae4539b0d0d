#!/bin/sh
# The plugin for tmux, by the conventions of TPM. Options, of which key, status and background can be `off`:
#   @fleetwatch-key         after the prefix, it opens the dashboard in a popup (F)
#   @fleetwatch-width       of the popup, in columns or percent (90%)
#   @fleetwatch-status      who needs you, in front of status-right (on)
#   @fleetwatch-background  a watcher that rings when no dashboard is open (on)

option() {
    value=$(tmux show-options -gqv "$1")
    printf '%s' "${value:-$2}"
}

key=$(option @fleetwatch-key F)
# tmux takes a bare semicolon for the end of the command.
[ "$key" != ';' ] || key='\;'

# Says what is missing, now and whenever the key is pressed: while tmux starts, nobody sees a message.
missing() {
    tmux display-message "$1"
    [ "$key" = off ] || tmux bind-key -N 'Open fleetwatch' -- "$key" display-message "$1"
    exit 0
}

program=fleetwatch
# A tmux that a desktop started has not the PATH of a login shell.
for directory in "$HOME/.local/bin" "$HOME/.cargo/bin" /usr/local/bin /opt/homebrew/bin; do
    ! command -v "$program" >/dev/null || break
    [ ! -x "$directory/fleetwatch" ] || program=$directory/fleetwatch
done
command -v "$program" >/dev/null || missing 'fleetwatch is not installed, or not in the PATH of this tmux server'
# tmux and its shell read the name once more.
case $program in *[!A-Za-z0-9./_+@-]*) missing "put fleetwatch into the PATH of tmux: $program has signs that tmux reads" ;; esac

case $(tmux display-message -p '#{version}') in
'' | [12].* | 3.[01] | 3.[01][a-z]) missing 'fleetwatch needs tmux 3.2 or newer' ;;
esac

if [ "$key" != off ]; then
    tmux bind-key -N 'Open fleetwatch' -- "$key" \
        display-popup -E -w "$(option @fleetwatch-width 90%)" -h 90% "$program"
fi

if [ "$(option @fleetwatch-status on)" != off ]; then
    right=$(tmux show-options -gv status-right)
    case $right in
    *'fleetwatch status'*) ;;
    *)
        # A semicolon at the end of the last word, too.
        case $right in *\;) right="${right%;}\\;" ;; esac
        # tmux cuts the end of what is too long.
        tmux set-option -g status-right "#($program status --format tmux) $right"
        ;;
    esac
    # By default, tmux refreshes the line every 15 seconds.
    if [ "$(tmux show-options -gv status-interval)" -gt 5 ]; then
        tmux set-option -g status-interval 5
    fi
fi

if [ "$(option @fleetwatch-background on)" != off ]; then
    # tmux tests and sets the mark in one step, and the watcher takes it back when it ends.
    tmux if-shell -F '#{@fleetwatch-watching}' '' "set-option -g @fleetwatch-watching on ; run-shell -b \
        '$program watch --for-tmux #{pid} >/dev/null 2>&1; tmux set-option -gu @fleetwatch-watching 2>/dev/null || :'"
fi
