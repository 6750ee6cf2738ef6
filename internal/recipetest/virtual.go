//go:build !real

package recipetest

import "testing"

// onReal does nothing: the program does not have the build tag real.
func onReal(*testing.T, func(t *testing.T, w *World)) {}
