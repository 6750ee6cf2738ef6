# Completes the command lines of PROGRAM in bash: source this file.
_PROGRAM() {
	local line=$COMP_LINE last=${COMP_WORDS[COMP_CWORD]} words=() at=() n=0 kind= i word before
	# Bash splits words at ":" and "=". What stands together is one word.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((i > 0)) && [[ -n $word && $line == "$word"* ]]; then
			words[n - 1]+=$word
		else
			words[n]=$word at[n]=$i
			((++n))
		fi
		line=${line#*"$word"}
	done
	[[ $last == [:=]* ]] && last=
	before=${words[n - 1]%"$last"}
	COMPREPLY=()
	while IFS= read -r word; do
		if [[ -z $kind ]]; then
			kind=$word
		else
			word=${word%%$'\t'*}
			COMPREPLY+=("${word#"$before"}")
		fi
	done < <("${1/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null)
	case $kind in
	beginnings)
		compopt -o nospace 2>/dev/null
		;;
	files)
		compopt -o default 2>/dev/null || mapfile -t COMPREPLY < <(compgen -f -- "$last")
		;;
	program*)
		i=${at[${kind#program } + 1]}
		if declare -F _command_offset >/dev/null; then
			_command_offset "$i" # of the package bash-completion
			return
		fi
		compopt -o default 2>/dev/null
		((i == COMP_CWORD)) && mapfile -t COMPREPLY < <(compgen -c -- "$last")
		;;
	esac
}
complete -F _PROGRAM PROGRAM
