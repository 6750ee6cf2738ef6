//go:build real && unix

package main

import (
	"os"
	"syscall"
)

// signals are the signals that end the program.
var signals = map[string]os.Signal{"interrupt": os.Interrupt, "terminate": syscall.SIGTERM}
