package main

// operatorCommands are the commands that show locks, and those that change what
// others hold.
func operatorCommands() []*command {
	return []*command{
		lsCommand, showCommand, watchCommand, graphCommand,
		revokeCommand, freeCommand, limitCommand, doctorCommand,
	}
}
