package tracing_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// node makes a persistent node, which is shut down at the end of the test.
func (s *story) node(v *service, path string) *nodes.PersistentNode {
	s.Helper()
	n, err := nodes.NewPersistentNode(v.client, path, nil)
	require.NoError(s, err)
	s.Cleanup(func() {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		n.Shutdown(over)
	})
	return n
}

// conflictingNode registers a node after somebody else's with the same path.
func (s *story) conflictingNode(v *service) *nodes.PersistentNode {
	s.Helper()
	require.NoError(s, s.srv.Create("/registry", nil))
	n := s.node(v, "/registry")
	time.Sleep(time.Second)
	require.NoError(s, s.srv.Delete("/registry"))
	_, err := n.WaitRegistered(s.Context())
	require.NoError(s, err)
	return n
}

func (s *story) openCache(v *service) *cache.Cache {
	s.Helper()
	c, err := cache.New(v.client, "/registry")
	require.NoError(s, err)
	s.Cleanup(func() { c.Close() })
	require.NoError(s, c.WaitSynced(s.Context()))
	return c
}

// metricsOf returns the lines of the metrics with a prefix.
func (s *story) metricsOf(v *service, prefix string) (lines []string) {
	s.Helper()
	synctest.Wait()
	for _, m := range collect(s.T, v) {
		for _, point := range slices.Sorted(slices.Values(pointsOf(s, m))) {
			if rest, ok := strings.CutPrefix(m.Name, prefix); ok {
				lines = append(lines, rest+point)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func TestRegistrationsAreCounted(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		require.Empty(t, s.metricsOf(v, "curator.znode."))
		s.conflictingNode(v)
		s.srv.Session(v.client.SessionID()).Expire()
		time.Sleep(time.Minute)
		require.NoError(t, s.srv.Delete("/registry"))
		time.Sleep(time.Minute)
		_, err := nodes.NewGroup(v.client, "/group").Join(t.Context(), "id", nil)
		require.NoError(t, err)
		s.srv.Inject(zktest.Rule{Op: zktest.OpCreate, Path: "/delayed", Do: zktest.DelayReply(time.Second)})
		delayed := s.node(v, "/delayed")
		require.Contains(t, s.metricsOf(v, "curator.znode."), "missing: 1")
		require.NoError(t, delayed.Shutdown(t.Context()))
		require.Equal(t, []string{
			"conflicts: 1",
			"losses {curator.znode.loss=node_deleted}: 1",
			"losses {curator.znode.loss=session_lost}: 1",
			"missing: 0",
			"registrations {curator.znode.regained=false}: 2",
			"registrations {curator.znode.regained=true}: 2",
		}, s.metricsOf(v, "curator.znode."))
	})
}

// A node waits for somebody else's, is there, is written by somebody else,
// outlives an interruption, and is lost with its session. When it is to come
// back, there is somebody else's again.
func TestRegistrationIsLostAndRegained(t *testing.T) {
	runStory(t, func(s *story) {
		s.metric = "curator.znode." // the end of a session may cancel an operation, or come before it
		v := s.service("worker")
		n := s.conflictingNode(v)
		time.Sleep(100 * time.Millisecond)
		require.NoError(s, s.srv.Set("/registry", []byte("foreign")))
		time.Sleep(time.Second)
		session := s.srv.Session(v.client.SessionID())
		s.answerConnectsAt(5 * time.Second)
		session.Cut()
		time.Sleep(4 * time.Second)
		session = s.srv.Session(v.client.SessionID())
		s.answerConnectsAt(10 * time.Second)
		session.Expire()
		time.Sleep(time.Second)
		require.NoError(s, s.srv.Create("/registry", nil))
		time.Sleep(10 * time.Second)
		require.NoError(s, s.srv.Delete("/registry"))
		time.Sleep(time.Second)
		require.NoError(s, n.Shutdown(context.Background()))
	})
}

func TestRegistrationThatIsRefused(t *testing.T) {
	runStory(t, func(s *story) {
		v := s.service("worker")
		s.srv.Inject(zktest.Rule{Op: zktest.OpCreate, Do: zktest.Fail(zktest.ErrNoAuth)})
		n := s.node(v, "/registry")
		<-n.Done()
	})
}

func TestLagOfCachesIsMeasured(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		require.Empty(t, s.metricsOf(v, "curator.cache."))
		require.NoError(t, s.srv.Create("/registry", nil))
		first := s.openCache(v)
		s.openCache(v)
		inOrder := []string{"lag.duration: 0", "lag.transactions: 0", "nodes: 2", "resyncs: 0"}
		require.Equal(t, inOrder, s.metricsOf(v, "curator.cache."))

		s.srv.RefuseConnections(true)
		s.srv.CutAll()
		time.Sleep(2 * time.Second)
		require.Contains(t, s.metricsOf(v, "curator.cache."), "lag.duration: 2")
		s.srv.RefuseConnections(false)
		time.Sleep(time.Minute)
		inOrder[3] = "resyncs: 2"
		require.Equal(t, inOrder, s.metricsOf(v, "curator.cache."))
		require.NoError(t, first.Close())
		inOrder[2] = "nodes: 1"
		require.Equal(t, inOrder, s.metricsOf(v, "curator.cache."))
	})
}
