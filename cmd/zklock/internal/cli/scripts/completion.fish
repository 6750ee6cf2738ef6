# Completes the command lines of PROGRAM in fish.
function __PROGRAM_complete
	set -l words (commandline -opc)
	set -l last (commandline -ct)
	set -l program (string replace -r '^~' $HOME -- $words[1])
	set -l answer ($program __complete $words[2..-1] "$last" 2>/dev/null)
	set -l kind $answer[1]
	set -e answer[1]
	switch "$kind"
		case files
			set -l before (string match -r -- '^-[^=]*=' "$last")
			for file in (__fish_complete_path (string replace -r -- '^-[^=]*=' '' "$last"))
				echo "$before$file"
			end
		case 'program*'
			set -e words[1..(math (string replace 'program ' '' $kind) + 1)]
			complete -C (string join ' ' -- (string escape -- $words) $last)
		case '*'
			printf '%s\n' $answer
	end
end

complete -c PROGRAM -e
complete -c PROGRAM -f -a '(__PROGRAM_complete)'
