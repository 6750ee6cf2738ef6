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
		parseEnsembleConfig(data)
		runtime.ReadMemStats(&after)
		require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<10+64*len(data)))
	})
}

func FuzzEnsembleConfig(f *testing.F) {
	f.Add("server.1=zk1:2888:3888:participant;0.0.0.0:2181\nversion=1f")
	f.Add("server.3=[::1]:2888:3888|b:1:2;x")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range parseEnsembleConfig([]byte(text)).Members {
			again := parseEnsembleConfig([]byte(m.String()))
			require.Equal(t, []Member{m}, again.Members, "a member that was read is written as it is read")
		}
	})
}
