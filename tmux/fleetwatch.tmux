#!/bin/sh
# A plugin for tmux, by the conventions of TPM. Options, each `off` for nothing:
#   @fleetwatch-key     after the prefix, it opens the dashboard in a popup (F)
#   @fleetwatch-status  who needs you, in status-right (on)
#   @fleetwatch-watch   a watcher that rings when no dashboard is open (on)

if ! command -v fleetwatch >/dev/null; then
    tmux display-message 'fleetwatch is not in the PATH of this tmux server'
    exit 0
fi

option() {
    value=$(tmux show-options -gqv "$1")
    printf '%s' "${value:-$2}"
}

key=$(option @fleetwatch-key F)
if [ "$key" != off ]; then
    # tmux takes a bare semicolon for the end of the command.
    [ "$key" != ';' ] || key='\;'
    tmux bind-key -N 'Open fleetwatch' -- "$key" display-popup -E -w 90% -h 90% fleetwatch
fi

if [ "$(option @fleetwatch-status on)" != off ]; then
    right=$(tmux show-options -gv status-right)
    case $right in
    *'fleetwatch status'*) ;;
    *)
        # The same at the end of the last word.
        case $right in *\;) right="${right%;}\\;" ;; esac
        # tmux cuts the end of what is too long.
        tmux set-option -g status-right "#(fleetwatch status --format tmux) $right"
        ;;
    esac
    # By default, tmux refreshes the line every 15 seconds.
    if [ "$(tmux show-options -gv status-interval)" -gt 5 ]; then
        tmux set-option -g status-interval 5
    fi
fi

if [ "$(option @fleetwatch-watch on)" != off ]; then
    # tmux tests and sets the mark in one step, and the watcher takes it back when it ends.
    tmux if-shell -F '#{@fleetwatch-watching}' '' "set-option -g @fleetwatch-watching on ; run-shell -b \
        'fleetwatch watch --for-tmux #{pid} >/dev/null 2>&1; tmux set-option -gu @fleetwatch-watching 2>/dev/null || :'"
fi
