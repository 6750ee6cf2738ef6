package order

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A downgraded reader has the number of its writer. Where the server has no
// numbers left, contenders have one number, and nobody can downgrade.
//
// Promise: A sequence number after the overflow is not taken for a downgraded lock.
func TestOnlyACountedNumberTellsOfADowngrade(t *testing.T) {
	queue := func(name string) []Entry {
		return slices.Collect(Entries([]string{name}, readKind, writeKind))
	}
	for number, want := range map[string]bool{"0000000007": true, "2147483647": false, "-2147483647": false} {
		require.Equal(t, want, HasDowngraded(queue(writeKind+number), queue(readKind+number), readKind), number)
	}
}
