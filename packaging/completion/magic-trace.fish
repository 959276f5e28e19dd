# Completion for fish: asks magic-trace what may stand at the cursor (src/cli/completion/candidates.h).
function __magic_trace_candidates
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    for answer in ($words[1] completion -at (count $words) -- $words $word 2>/dev/null)
        switch $answer
            case ':files'
                __fish_complete_path (string replace -r '^-[^=]*=' '' -- $word) | string match -rv '\.magic-trace-index(\t|$)'
            case ':folders'
                __fish_complete_directories (string replace -r '^-[^=]*=' '' -- $word)
            case ':program *'
                set -l first (math (string replace ':program ' '' -- $answer) + 1)
                set -l rest $words[$first..-1] $word
                complete -C (string join -- ' ' $rest)
            case '*'
                echo $answer
        end
    end
end
complete -c magic-trace -f -a '(__magic_trace_candidates)'
