//go:build real

package zktest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// inspectFreshTree looks at everything there is before the first write.
func inspectFreshTree(s *stage) {
	a := s.client()
	for _, path := range []string{"/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"} {
		a.get(path, false)
		a.do(wire.OpGetACL, path)
		a.do(wire.OpGetChildren2, path, false)
	}
	a.delete("/", -1)
}

func TestFreshTreeConforms(t *testing.T) {
	realServer.get(t)
	require.Equal(t, realServer.fresh, perform(t, newLookalike(t).Addr(), 0, inspectFreshTree))
}

func TestCreateConforms(t *testing.T) {
	conform(t, "modes", func(s *stage) {
		a := s.client()
		a.create("/p", none)
		for flags := int32(-1); flags <= wire.MaxFlags+1; flags++ {
			a.create("/p/create", flags)
			a.create2("/p/create2", flags)
			a.do(wire.OpCreateContainer, "/p/container", []byte("x"), datatree.OpenACL, int(flags))
			a.do(wire.OpCreateTTL, "/p/ttl", []byte("x"), datatree.OpenACL, int(flags), int64(50_000))
		}
		a.do(wire.OpGetChildren2, "/p", false)
		for _, name := range []string{"create", "create2", "container", "ttl"} {
			a.exists("/p/"+name, false)
		}
	})
	conform(t, "sequence", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/p", none)
		a.create("/p/n-", wire.FlagSequence)
		b.create("/p/", wire.FlagEphemeralSequence)
		a.create("/p/plain", none)
		a.create("/p/plain", none)
		b.delete("/p/plain", -1)
		a.create("/p/n-", wire.FlagSequence)
		a.create("/p/n-0000000004", none)
		a.create("/p/n-", wire.FlagSequence)
		a.create("/p/n-", wire.FlagSequence)
		a.do(wire.OpCreateTTL, "/p/t-", []byte("x"), datatree.OpenACL, int(wire.FlagTTLSequence), int64(50_000))
		a.create("/", wire.FlagSequence)
		a.do(wire.OpGetChildren2, "/p", false)
	})
	conform(t, "data", func(s *stage) {
		a := s.client()
		a.do(wire.OpCreate, "/null", []byte(nil), datatree.OpenACL, 0)
		a.do(wire.OpCreate, "/empty", []byte{}, datatree.OpenACL, 0)
		a.get("/null", false)
		a.get("/empty", false)
		a.set("/null", "", -1)
		a.get("/null", false)
		a.do(wire.OpSetData, "/empty", []byte(nil), -1)
		a.get("/empty", false)
		large := make([]byte, 1<<19)
		a.do(wire.OpSetData, "/empty", large, -1)
		a.exists("/empty", false)
	})
	conform(t, "longest request", func(s *stage) {
		a := s.client()
		a.create("/p", none)
		const overhead = 8 + 4 + len("/p") + 4 + 4
		a.do(wire.OpSetData, "/p", make([]byte, wire.MaxFrame-overhead), -1)
		a.exists("/p", false)
		a.write(frameLength(wire.MaxFrame + 1))
		a.awaitEnd()
	})
	conform(t, "ttl", func(s *stage) {
		a := s.client()
		for _, ttl := range []int64{-1, 0, 1 << 40, 1<<40 - 1} {
			a.do(wire.OpCreateTTL, "/ttl", []byte("x"), datatree.OpenACL, int(wire.FlagTTL), ttl)
		}
		a.exists("/ttl", false)
	})
	conform(t, "ephemerals", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/p", none)
		a.create("/p/e", wire.FlagEphemeral)
		a.create("/p/e/child", none)
		a.create("/p/e/child", wire.FlagSequence)
		b.create("/p/other", wire.FlagEphemeral)
		a.create("/pe", wire.FlagEphemeral)
		for _, prefix := range []string{"/", "/p", "/p/", "", "/none", " / ", "  ", " /p", "p"} {
			a.do(wire.OpGetEphemerals, prefix)
			b.do(wire.OpGetEphemerals, prefix)
		}
		b.delete("/p/e", -1)
		a.do(wire.OpGetEphemerals, "/")
	})
}
