# Functions, subshells, pipes, traps and substitutions; for tests/truth/long_runs.
factorial() { if [ "$1" -le 1 ]; then echo 1; else echo $(($1 * $(factorial $(($1 - 1))))); fi; }
fibonacci() { if (($1 < 2)); then result=$1; else fibonacci $(($1 - 1)); local first=$result; fibonacci $(($1 - 2)); ((result += first)); fi; }
signals=0
trap 'signals=$((signals + 1))' USR1
fibonacci 12
product=$(factorial 5)
words=()
for ((i = 0; i < 400; i++)); do
    words+=("word$((i * 37 % 101))")
    case ${words[i]} in *1?) text=${words[i]/word/name} ;; *) text=${words[i]^^} ;; esac
    [[ $text =~ ^([A-Za-z]+)([0-9]+)$ ]] && number=${BASH_REMATCH[2]}
    ((i % 100 == 0)) && kill -USR1 $$
done
count=$(printf '%s\n' "${words[@]}" | while read -r word; do echo "${#word}"; done | { total=0; while read -r n; do ((total += n)); done; echo "$total"; })
(exit 3) || status=$?
echo "$result $product $number $count $status $signals"
[ "$signals" -eq 4 ]
