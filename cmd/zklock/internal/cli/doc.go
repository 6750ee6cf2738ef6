// Package cli is the command line of a program with commands, such as
// "zklock run -w 5 /lock -- ls -l".
//
// A command is declared as one Command, and its flags with package flag. From
// these declarations come the usage errors, the help, and the
// completion in bash, zsh and fish:
//
//	p := &cli.Program[*env]{
//		Name:     "zklock",
//		Purpose:  "locks of ZooKeeper",
//		Commands: []*cli.Command[*env]{lsCommand},
//		Common:   settings.define,
//		Print:    func(e *env, text string) error { ... },
//	}
//	call, err := p.Parse(os.Args[1:])
//	...
//	err = call.Run(ctx, &env{args: call.Operands})
//
// Flags are read as by getopt_long(3): -x, --long, --long=value, -w5, and -xn for -x
// -n. Flags may come before or after operands. If a flag is given twice, the last one
// counts, so a user can override a shell alias. Each command decides what two flags
// mean together.
package cli
