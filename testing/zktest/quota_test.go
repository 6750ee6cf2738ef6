package zktest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuotaValues(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "count=-1,bytes=-1",
		"count=3,bytes=5":           "count=3,bytes=5",
		"bytes=5,count=3":           "count=3,bytes=5",
		"count=,bytes=x,nonsense":   "count=-1,bytes=-1",
		"count=1,bytes=2=;b=4;a=-3": "count=1,bytes=2=;a=-3;b=4",
	} {
		require.Equal(t, want, string(parseQuota([]byte(text)).encode()), text)
	}
}

// What quotas are is shown by TestQuotasConform; here is what they cost: a multi that fails leaves the books as they were.
func TestQuotaBooksAreRolledBack(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		const quota = "/zookeeper/quota/q"
		require.NoError(t, srv.Create("/q/old", []byte("12345")))
		require.NoError(t, srv.Create(quota+"/zookeeper_limits", []byte("count=-1,bytes=-1=;countHardLimit=4")))
		require.NoError(t, srv.Create(quota+"/zookeeper_stats", nil))
		books := func() string {
			n, _ := srv.Node(quota + "/zookeeper_stats")
			return string(n.Data)
		}
		require.Equal(t, "count=2,bytes=5", books())
		c := login(t, srv)
		c.call(OpMulti, OpCreate, "/q/new", []byte("1"), openACL, 0, OpSetData, "/q/old", []byte("1"), -1,
			OpDelete, quota+"/zookeeper_limits", -1, OpCheck, "/none", 0, opError)
		require.Equal(t, "count=2,bytes=5", books())
		require.Contains(t, srv.tree.quotas, "/q")
		c.create("/q/a", 0)
		c.create("/q/b", 0)
		require.Equal(t, ErrQuotaExceeded, c.create("/q/c", 0).code)
		require.Equal(t, "count=4,bytes=13", books())
		require.NoError(t, srv.Delete(quota))
		require.Equal(t, ok, c.create("/q/c", 0).code)
	}, WithEnforcedQuotas())
}

func TestQuotasAreNotEnforcedByDefault(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		require.NoError(t, srv.Create("/zookeeper/quota/q/zookeeper_limits", []byte("countHardLimit=0")))
		require.NoError(t, srv.Create("/zookeeper/quota/q/zookeeper_stats", nil))
		require.NoError(t, srv.Create("/q", nil))
	})
}
