package znode_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/znode"
)

func TestGUIDIsAUUIDOfVersion4(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 1000 {
		id := znode.GUID()
		require.Regexp(t, form, id)
		seen[id] = true
	}
	require.Len(t, seen, 1000)
}

// Each protected node takes an id, so that it costs little.
func TestGUIDIsTwoAllocations(t *testing.T) {
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { znode.GUID() }), 2.0)
}
