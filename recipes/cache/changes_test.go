package cache_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// story tells what a reader of Changes is told.
type story struct {
	mu    sync.Mutex
	lines []string
}

func (s *story) follow(t *testing.T, c *cache.Cache) {
	go func() {
		for ch := range c.Changes(t.Context()) {
			s.mu.Lock()
			s.lines = append(s.lines, strings.TrimSpace(ch.Type.String()+" "+ch.Old.Path+ch.New.Path))
			if ch.Type == cache.Changed {
				s.lines[len(s.lines)-1] = fmt.Sprintf("changed %s %s", ch.New.Path, ch.New.Data)
			}
			s.mu.Unlock()
		}
	}()
}

// next returns what was told since the last call.
func (s *story) next() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.lines
	s.lines = nil
	return lines
}

func TestChangesBeginWithASnapshotAndGoOn(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		create(t, srv, "/r", "/r/a")
		c, err := cache.New(client, "/r")
		require.NoError(t, err)
		defer c.Close()
		var s story
		s.follow(t, c)
		require.NoError(t, c.WaitSynced(within(t)))
		require.Equal(t, []string{"created /r", "created /r/a", "synced"}, s.next())
		create(t, srv, "/r/b")
		require.Equal(t, []string{"created /r/b"}, s.next())
		require.NoError(t, srv.Set("/r/b", []byte("new")))
		require.Equal(t, []string{"changed /r/b new"}, s.next())
		require.NoError(t, srv.Delete("/r/b"))
		require.Equal(t, []string{"deleted /r/b"}, s.next())
	})
}

// A reader of Steps who applies each step to what it has, has the cache as of
// the step's transaction.
func TestStepsGoFromStateToState(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		create(t, srv, "/r", "/r/a")
		c := open(t, client, "/r")
		steps := make(chan cache.Step, 100)
		go func() {
			for step := range c.Steps(t.Context()) {
				steps <- step
			}
		}()
		synctest.Wait()
		first := <-steps
		require.Equal(t, []string{"/r", "/r/a"}, []string{first.Changes[0].New.Path, first.Changes[1].New.Path})
		require.True(t, first.Synced)
		require.Equal(t, c.Zxid(), first.Zxid)
		require.NoError(t, srv.Delete("/r/a"))
		create(t, srv, "/r/a", "/r/b")
		synctest.Wait()
		has := map[string]int64{"/r": first.Changes[0].New.Stat.Czxid, "/r/a": first.Changes[1].New.Stat.Czxid}
		var last cache.Step
		for len(steps) > 0 {
			last = <-steps
			for _, ch := range last.Changes {
				delete(has, ch.Old.Path)
				if ch.Type != cache.Deleted {
					has[ch.New.Path] = ch.New.Stat.Czxid
				}
			}
		}
		for n := range c.All() {
			require.Equal(t, n.Stat.Czxid, has[n.Path])
			delete(has, n.Path)
		}
		require.Empty(t, has)
		require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
		create(t, srv, "/other")
		require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
		synctest.Wait()
		for len(steps) > 0 {
			last = <-steps
		}
		require.Empty(t, last.Changes)
		require.GreaterOrEqual(t, last.Zxid, srv.Stats().Zxid, "there are steps without changes")
		srv.CutAll()
		synctest.Wait()
		require.False(t, (<-steps).Synced)
	})
}

// A comparison of versions misses a node that was deleted and re-created, and so
// whether its data has to be read again. The cache reads the data of small nodes
// in any case.
func TestNodeRecreatedDuringAnOutageIsNoticed(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		before, after := bytes.Repeat([]byte("a"), 2<<10), bytes.Repeat([]byte("b"), 2<<10)
		create(t, srv, "/r", "/r/gone")
		require.NoError(t, srv.Create("/r/a", before))
		c := open(t, client, "/r")
		var s story
		s.follow(t, c)
		s.next()
		srv.RefuseConnections(true)
		srv.CutAll()
		require.Equal(t, []string{"interrupted"}, s.next())
		require.NoError(t, srv.Delete("/r/a"))
		require.NoError(t, srv.Delete("/r/gone"))
		create(t, srv, "/r/new", "/r/new/deep")
		require.NoError(t, srv.Create("/r/a", after))
		srv.RefuseConnections(false)
		require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
		require.Equal(t, []string{
			"deleted /r/gone", "deleted /r/a", "created /r/a", "created /r/new", "created /r/new/deep", "synced",
		}, s.next())
		n, there := c.Get("/r/a")
		require.True(t, there)
		require.True(t, bytes.Equal(after, n.Data), "the data of before")
	})
}

// A reader that does not read costs no more than the nodes that have changed.
func TestSlowReaderGetsTheLastState(t *testing.T) {
	onEach(t, func(t *testing.T, srv *zktest.Server, client *framework.Client) {
		create(t, srv, "/r", "/r/a")
		c := open(t, client, "/r")
		var got []string
		for ch := range c.Changes(t.Context()) {
			got = append(got, ch.Type.String()+" "+ch.Old.Path+" "+string(ch.New.Data))
			if ch.Type == cache.Synced {
				for i := range 1000 {
					require.NoError(t, srv.Set("/r/a", fmt.Append(nil, i)))
					create(t, srv, "/r/passing")
					require.NoError(t, srv.Delete("/r/passing"))
				}
				require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
			}
			if ch.Type == cache.Changed {
				break
			}
		}
		require.Equal(t, []string{"created  of /r", "created  of /r/a", "synced  ", "changed /r/a 999"}, got)
	})
}
