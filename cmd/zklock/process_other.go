//go:build !unix

package main

// processExists reports whether there may be a process with this id: here, that
// is not known.
func processExists(int) bool { return true }
