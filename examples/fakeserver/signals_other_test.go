//go:build !unix

package main

import "os"

// signals cannot be sent to a process on other systems.
var signals map[string]os.Signal
