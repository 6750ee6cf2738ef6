package framework

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The answer to a look may be older than the newest creation of the node.
func TestNodeThatWasMadeAnewDuringALookCounts(t *testing.T) {
	var e ephemerals
	e.add("/n")
	looked := e.listLocked()
	e.removeLocked("/n")
	e.add("/n")
	e.remove(looked[0].path, looked[0].number)
	require.Len(t, e.paths, 1)
	require.Equal(t, pathHeader+len("/n"), e.size)
}
