#compdef PROGRAM
_PROGRAM() {
	local -a answer options
	local kind
	answer=("${(@f)$("${words[1]/#\~/$HOME}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
	kind=$answer[1]
	shift answer
	case $kind in
	(program*)
		shift $((${kind#program } + 1)) words
		((CURRENT -= ${kind#program } + 1))
		_normal
		return
		;;
	(files)
		compset -P '-*='
		_files
		return
		;;
	(beginnings) options=(-S '') ;;
	esac
	answer=("${(@)${(@)answer//:/\\:}/$'\t'/:}")
	(($#answer)) && _describe PROGRAM answer "${options[@]}"
}
if [[ $funcstack[1] == _PROGRAM ]]; then
	_PROGRAM "$@"
else
	compdef _PROGRAM PROGRAM
fi
