package zktest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// inspectFreshTree looks at everything there is before the first write.
func inspectFreshTree(s *stage) {
	a := s.client()
	for _, path := range []string{"/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"} {
		a.get(path, false)
		a.do(OpGetACL, path)
		a.do(OpGetChildren2, path, false)
		a.do(OpGetAllChildrenNumber, path)
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
		for flags := int32(-1); flags <= maxFlags+1; flags++ {
			a.create("/p/create", flags)
			a.create2("/p/create2", flags)
			a.do(OpCreateContainer, "/p/container", []byte("x"), openACL, int(flags))
			a.do(OpCreateTTL, "/p/ttl", []byte("x"), openACL, int(flags), int64(50_000))
		}
		a.do(OpGetChildren2, "/p", false)
		for _, name := range []string{"create", "create2", "container", "ttl"} {
			a.exists("/p/"+name, false)
		}
		a.do(OpGetEphemerals, "/p")
	})
	conform(t, "sequence", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/p", none)
		a.create("/p/n-", flagSequence)
		b.create("/p/", flagEphemeralSeq)
		a.create("/p/plain", none)
		a.create("/p/plain", none)
		b.delete("/p/plain", -1)
		a.create("/p/n-", flagSequence)
		a.create("/p/n-0000000004", none)
		a.create("/p/n-", flagSequence)
		a.create("/p/n-", flagSequence)
		a.do(OpCreateTTL, "/p/t-", []byte("x"), openACL, int(flagTTLSequential), int64(50_000))
		a.create("/", flagSequence)
		a.do(OpGetChildren2, "/p", false)
	})
	conform(t, "data", func(s *stage) {
		a := s.client()
		a.do(OpCreate, "/null", []byte(nil), openACL, 0)
		a.do(OpCreate, "/empty", []byte{}, openACL, 0)
		a.get("/null", false)
		a.get("/empty", false)
		a.set("/null", "", -1)
		a.get("/null", false)
		a.do(OpSetData, "/empty", []byte(nil), -1)
		a.get("/empty", false)
		large := make([]byte, 1<<19)
		a.do(OpSetData, "/empty", large, -1)
		a.exists("/empty", false)
	})
	conform(t, "longest request", func(s *stage) {
		a := s.client()
		a.create("/p", none)
		const overhead = 8 + 4 + len("/p") + 4 + 4
		a.do(OpSetData, "/p", make([]byte, maxFrame-overhead), -1)
		a.exists("/p", false)
		a.write(frameLength(maxFrame + 1))
		a.awaitEnd()
	})
	conform(t, "ttl", func(s *stage) {
		a := s.client()
		for _, ttl := range []int64{-1, 0, 1 << 40, 1<<40 - 1} {
			a.do(OpCreateTTL, "/ttl", []byte("x"), openACL, int(flagTTL), ttl)
		}
		a.exists("/ttl", false)
	})
	conformSince39(t, "deleteContainer", "its path has no length in front", func(s *stage) {
		a, b := s.client(), s.client()
		a.do(OpCreateContainer, "/c", []byte("x"), openACL, int(flagContainer))
		a.do(OpCreateTTL, "/t", []byte("x"), openACL, int(flagTTL), int64(50_000))
		a.create("/c/x", none)
		a.create("/e", flagEphemeral)
		b.children("/", true)
		b.get("/c", true)
		for _, path := range []string{"/c", "/c/x", "/c/x/y", "/c", "/c", "/t", "/e", "/", "/zookeeper", "x", "", "/zookeeper/config"} {
			b.do(OpDeleteContainer, path)
		}
	})
	conform(t, "ephemerals", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/p", none)
		a.create("/p/e", flagEphemeral)
		a.create("/p/e/child", none)
		a.create("/p/e/child", flagSequence)
		b.create("/p/other", flagEphemeral)
		a.create("/pe", flagEphemeral)
		for _, prefix := range []string{"/", "/p", "/p/", "", "/none", " / ", "  ", " /p", "p"} {
			a.do(OpGetEphemerals, prefix)
			b.do(OpGetEphemerals, prefix)
		}
		b.delete("/p/e", -1)
		a.do(OpGetEphemerals, "/")
	})
}
