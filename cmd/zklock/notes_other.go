//go:build !linux

package main

// writeFromBackground is for Linux: elsewhere, only what a process ignores lets
// it write to a terminal that a command has after "stty tostop", and a command
// would inherit that.
func writeFromBackground() {}
