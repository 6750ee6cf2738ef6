package framework

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// No configuration makes the parser panic, or take more memory than in
// proportion to its length.
func FuzzEnsembleConfigMemory(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte("server.1=a:1:2:participant;0.0.0.0:2181\nversion=1"))
	f.Add([]byte("server.1=a:1:2|b:3:4:observer\ngroup.1=1:2\n\n#x"))
	f.Add(make([]byte, 1200))
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ParseEnsembleConfig(data)
		runtime.ReadMemStats(&after)
		require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<10+64*len(data)))
	})
}
