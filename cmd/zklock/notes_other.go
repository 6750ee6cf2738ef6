//go:build !linux

package main

// writeFromBackground is for Linux. On other systems, only a process that ignores
// SIGTTOU can write to a command's terminal after "stty tostop", and the command would
// inherit the ignored signal.
func writeFromBackground() {}
