package order

import (
	"math"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

// The Stat of a parent tells how many nodes were ever made below it, however many
// were deleted, also where the number of changes does not fit into 32 bits.
func TestNumberOfANewcomer(t *testing.T) {
	for _, made := range []int32{0, 1, 2, 1000, 1<<30 - 1, 1 << 30, 1<<30 + 1, math.MaxInt32 - 1, math.MaxInt32} {
		for _, left := range []int32{0, 1, 7, min(made, 1<<20)} {
			if left > made {
				continue
			}
			stat := &zk.Stat{Cversion: 2*made - left, NumChildren: left} // it wraps
			require.Equal(t, Entry{Kind: "lock-", Seq: made, Czxid: math.MaxInt64}, Newcomer("lock-", stat))
		}
	}
}
