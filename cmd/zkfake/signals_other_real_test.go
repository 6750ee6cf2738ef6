//go:build real && !unix

package main

import "os"

// signals is empty: other systems cannot send a signal to a process.
var signals map[string]os.Signal
