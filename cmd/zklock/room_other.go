//go:build !unix

package main

import (
	"errors"
	"os"
)

// awaitRoom and awaitInput are for Unix: elsewhere, nobody makes the files of
// others non-blocking.
func awaitRoom(*os.File) error  { return errors.ErrUnsupported }
func awaitInput(*os.File) error { return errors.ErrUnsupported }
