# A small agent for tests: a prompt with a line editor, a pause for work, an answer, and a dialog.
#   ask     opens a dialog that is answered with one key; it is about the rest of the line
#   long N  opens a dialog about a command of so many rows
#   instead opens a dialog that asks once more when it is refused
#   menu    opens a dialog in which a mark is moved with the arrows
#   trust   opens a dialog that does not hear numbers
#   start   opens a dialog as an agent does that starts, and is busy after it
#   chain   opens a dialog, and when that is answered the same one again
#   tick    opens a dialog in which options are ticked and handed in, and reviewed then
#   type    opens a dialog with a row to type in
#   differ  opens a dialog of which one option gives the prompt back
#   letter  opens a dialog that is answered with a letter and Enter
#   hold    works until there is a file `go` beside its program, which it takes away
#   twice   takes the next prompt with the second Enter only; the first one puts a blank behind it, as a completion does
#   deaf    never takes a prompt again
#   nap N   works for so many seconds
#   undo    works, and takes the prompt back as if it had never been sent
#   exit    ends
#   leave   opens a dialog of which one option ends it, and leaves it on the screen
#   clock   draws a clock into the first row from then on
#   strokes is stopped, which it draws in several strokes above its next prompt
export LC_ALL=C.UTF-8
enters=1
echo "Parrot v1.0.0"
while IFS= read -r -e -p '❯ ' line; do
    for ((taken = 1; taken < enters; taken++)); do
        IFS= read -r -e -p '❯ ' -i "$line " line
        line=${line% }
    done
    echo "» $line"
    case $line in
        ask | ask\ *)
            what=${line#ask} what=${what# }
            printf 'Allow %s?\n> 1. Yes\n  2. No\n' "${what:-this}"
            IFS= read -r -s -n 1 answer
            printf '\033[3A\033[J● answered %s\n' "${answer:-1}" ;;
        long\ *)
            printf 'Allow this?\n'
            for ((i = 1; i <= ${line#long }; i++)); do printf '  row %s of the command && \\\n' "$i"; done
            printf '> 1. Yes\n  2. No\n'
            IFS= read -r -s -n 1 answer
            printf '\033[%sA\033[J● answered %s\n' "$((${line#long } + 3))" "${answer:-1}" ;;
        instead)
            printf 'Allow this?\n> 1. Yes\n  2. No\n'
            IFS= read -r -s -n 1 answer
            printf '\033[3A\033[J'
            if [ "$answer" = 2 ]; then
                printf 'Allow what instead?\n> (nothing)\n'
                IFS= read -r -s answer
                printf '\033[2A\033[J'
            fi
            echo '● done' ;;
        menu)
            options=(Alpha Beta Gamma) chosen=0
            echo 'Allow which?'
            while :; do
                for i in 0 1 2; do
                    if ((i == chosen)); then echo "> ${options[i]}"; else echo "  ${options[i]}"; fi
                done
                IFS= read -r -s -n 1 key
                [ "$key" ] || break
                [ "$key" = $'\033' ] && IFS= read -r -s -n 2 key
                case $key in
                    ?A) ((chosen > 0)) && ((chosen--)) ;;
                    ?B) ((chosen < 2)) && ((chosen++)) ;;
                esac
                printf '\033[3A\033[J'
            done
            printf '\033[4A\033[J● chose %s\n' "${options[chosen]}" ;;
        trust)
            printf 'Allow this?\n> 1. Trust\n  2. Back\n'
            while IFS= read -r -s -n 1 answer && [ "$answer" ]; do :; done
            printf '\033[3A\033[J● trusted\n' ;;
        start)
            printf 'Allow the start?\n> 1. Yes\n  2. No\n'
            IFS= read -r -s -n 1 answer
            printf '\033[3A\033[Jworking\n'
            sleep 0.4
            printf '\033[1A\033[J● started\n' ;;
        chain)
            for n in first second; do
                printf 'Allow this?\n> 1. Yes\n  2. No\n'
                IFS= read -r -s -n 1 answer
                printf '\033[3A\033[J● %s answered\n' "$n"
            done ;;
        tick)
            names=(Alpha Beta) ticks=(' ' ' ') at=0
            while :; do
                echo 'Allow which?'
                for i in 0 1 2; do
                    if ((i == at)); then mark='>'; else mark=' '; fi
                    if ((i == 2)); then echo "$mark Submit"; else echo "$mark $((i + 1)). [${ticks[i]}] ${names[i]}"; fi
                done
                IFS= read -r -s -n 1 key
                [ "$key" = $'\033' ] && IFS= read -r -s -n 2 key
                printf '\033[4A\033[J'
                case $key in
                    1 | 2) i=$((key - 1)); if [ "${ticks[i]}" = x ]; then ticks[i]=' '; else ticks[i]=x; fi ;;
                    ?A) ((at > 0)) && ((at--)) ;;
                    ?B) ((at < 2)) && ((at++)) ;;
                    '') ((at == 2)) && break ;;
                esac
            done
            chosen=
            for i in 0 1; do [ "${ticks[i]}" = x ] && chosen+=" ${names[i]}"; done
            printf 'Allow%s?\n> 1. Submit answers\n  2. Cancel\n' "$chosen"
            IFS= read -r -s -n 1 key
            printf '\033[3A\033[J● handed in%s\n' "$chosen" ;;
        type)
            text= at=0
            while :; do
                if ((at)); then printf 'Allow what?\n  1. Blue\n> 2. %s\n' "${text:-Type something.}"
                else printf 'Allow what?\n> 1. Blue\n  2. %s\n' "${text:-Type something.}"; fi
                IFS= read -r -s -n 1 key
                [ "$key" = $'\033' ] && IFS= read -r -s -n 2 key
                printf '\033[3A\033[J'
                case $key in
                    ?A) at=0 ;;
                    ?B) at=1 ;;
                    '') break ;;
                    *) ((at)) && text+=$key ;;
                esac
            done
            printf '● typed %s\n' "$text" ;;
        differ)
            printf 'Allow this?\n> 1. Yes\n  2. No, and say what to do differently\n'
            IFS= read -r -s -n 1 answer
            printf '\033[3A\033[J● answered %s\n' "${answer:-1}" ;;
        letter)
            IFS= read -r -e -p 'Allow it? (Y)es/(N)o [Yes]: ' answer
            printf '\033[1A\033[J● answered %s\n' "$answer" ;;
        hold)
            echo "working"
            until [ -e "${BASH%/*}/go" ]; do sleep 0.05; done
            rm "${BASH%/*}/go"
            printf '\033[1A\033[J● held\n' ;;
        twice) enters=2; echo "● twice" ;;
        deaf) enters=1000; echo "● deaf" ;;
        nap\ *)
            echo "working"
            sleep "${line#nap }"
            printf '\033[1A\033[J● heard %s\n' "$line" ;;
        undo) echo "working"; sleep 1; printf '\033[3A\033[J' ;;
        clock) { i=0; while printf '\0337\033[1;1H%s ticks\033[K\0338' "$((i++))"; do sleep 0.03; done; } & ;;
        exit) exit ;;
        leave)
            printf 'Allow this?\n> 1. Yes\n  2. No, and leave\n'
            IFS= read -r -s -n 1 answer
            [ "$answer" = 2 ] && exit
            printf '\033[3A\033[J● stayed\n' ;;
        strokes)
            echo "● half an answer"
            { for ((i = 0; i < 5; i++)); do
                sleep 0.12
                printf '\0337\033[1A\r● half an answer%s\033[K\0338' " stopped${i}"
            done; } & ;;
        *)
            echo "working"
            sleep 0.4
            printf '\033[1A\033[J● heard %s\n' "$line" ;;
    esac
done
