//go:build !unix

package main

import (
	"errors"
	"os"
)

// awaitRoom and awaitInput are for Unix: on other systems, programs do not make shared
// files non-blocking.
func awaitRoom(*os.File) error  { return errors.ErrUnsupported }
func awaitInput(*os.File) error { return errors.ErrUnsupported }
