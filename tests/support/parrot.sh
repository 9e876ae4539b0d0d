# A small agent for tests: a prompt with a line editor, a pause for work, an answer, and a dialog.
#   ask     opens a dialog that is answered with one key
#   menu    opens a dialog in which a mark is moved with the arrows
#   letter  opens a dialog that is answered with a letter and Enter
#   hold    works until there is a file `go` beside its program, which it takes away
#   twice   takes the next prompt with the second Enter only
#   deaf    never takes a prompt again
#   nap N   works for so many seconds
#   exit    ends
#   strokes is stopped, which it draws in several strokes above its next prompt
export LC_ALL=C.UTF-8
enters=1
echo "Parrot v1.0.0"
while IFS= read -r -e -p '❯ ' line; do
    for ((taken = 1; taken < enters; taken++)); do
        IFS= read -r -e -p '❯ ' -i "$line" line
    done
    echo "» $line"
    case $line in
        ask)
            printf 'Allow this?\n> 1. Yes\n  2. No\n'
            IFS= read -r -s -n 1 answer
            printf '\033[3A\033[J● answered %s\n' "$answer" ;;
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
        exit) exit ;;
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
