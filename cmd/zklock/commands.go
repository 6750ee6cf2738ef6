package main

import (
	"io"

	"github.com/gocurator/curator/cmd/zklock/internal/cli"
)

//go:generate go test -run=TestCommandsPageIsGenerated . -update

type (
	command = cli.Command[*env]
	action  = cli.Action[*env]
)

// env is the environment of a command.
type env struct {
	streams
	host
	*settings
	args   []string // the operands
	logins []login  // the client's credentials
}

// newProgram is the command line of zklock. The common flags change set.
func newProgram(set *settings) *cli.Program[*env] {
	return &cli.Program[*env]{
		Name:     "zklock",
		Purpose:  "locks of ZooKeeper for shells and operators",
		Status:   statusHelp,
		Commands: commands(),
		Common:   set.define,
		Values: map[string]cli.Values[*env]{
			"PATH": nodesBeginning, "NODE": nodesBeginning, "PATH|NODE": nodesBeginning, "ROOT": nodesBeginning,
		},
		Print: func(e *env, text string) error {
			_, err := io.WriteString(e.out, text)
			return err
		},
	}
}

// commands is the table of all commands, in the order of the help: commands for
// scripts, commands that show locks, and commands that take locks away.
func commands() []*command {
	return []*command{
		runCommand, electCommand, waitCommand,
		lsCommand, showCommand, graphCommand, servicesCommand,
		revokeCommand, freeCommand, doctorCommand,
	}
}

const statusHelp = `Exit status: the child's status, 128+n after signal n, or
   1 refused         2 found something (graph, doctor)
  64 bad usage     69 no server     75 not acquired     76 lost
  77 no rights     78 lost, and not stopped            125 own failure
 126, 127 the child cannot be started
`
