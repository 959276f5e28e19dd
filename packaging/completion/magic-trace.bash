# Completion for bash: asks magic-trace what may stand at the cursor (src/cli/completion/candidates.h).
_magic_trace()
{
    local cursor=$COMP_CWORD word=${COMP_WORDS[COMP_CWORD]} line
    COMPREPLY=()
    [ "$word" = = ] && word=
    while IFS= read -r line; do
        case $line in
        :files)
            compopt -o filenames
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X '*.magic-trace-index' -- "$word")
            ;;
        :folders)
            compopt -o filenames
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$word")
            ;;
        ':program '*)
            line=${line#:program }
            if [ "$line" = "$cursor" ]; then
                compopt -o filenames
                mapfile -t COMPREPLY < <(compgen -c -- "$word" && compgen -f -- "$word")
            elif declare -F _command_offset >/dev/null; then
                _command_offset "$line"
            else
                compopt -o filenames
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
            fi
            ;;
        *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("${COMP_WORDS[0]}" completion -at "$cursor" -- "${COMP_WORDS[@]}" 2>/dev/null)
}
complete -F _magic_trace magic-trace
