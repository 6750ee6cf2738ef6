package discovery_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// witness is a hook that notes what it is told.
type witness struct {
	mu   sync.Mutex
	told []string
}

func (w *witness) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, fmt.Sprintf(format, args...))
}

// news returns what is new.
func (w *witness) news() (told []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	told, w.told = w.told, nil
	return told
}

func (w *witness) InstanceChanged(c discovery.InstanceChange) {
	w.note("%s %s: drains %t", c.Path, c.Instance.ID, c.Drains)
}

func (w *witness) DirectoryChanged(c discovery.DirectoryChange) {
	end := ""
	if c.Ended {
		end = ", the end"
	}
	if c.Added+c.Removed+c.Updated+c.Malformed > 0 || c.Ended {
		w.note("+%d -%d ~%d !%d of %d%s", c.Added, c.Removed, c.Updated, c.Malformed, len(c.Now.Entries), end)
	}
}

func (w *witness) InstanceEjected(e discovery.Ejection) {
	w.note("%s is out for %v: %v", e.Instance.ID, e.For, e.Err)
}

// A hook receives each drain and its end, once.
func TestHookReceivesDrains(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		h := &witness{}
		c, _ := w.Connect(t, framework.WithHooks(h))
		r := w.registered(t, c, replica("a", 1))
		require.NoError(t, r.Drain(w.Patience(t)))
		require.NoError(t, r.Drain(w.Patience(t)))
		settle()
		require.Equal(t, []string{"/services/orders/a a: drains true"}, h.news())
		require.NoError(t, r.Resume(w.Patience(t)))
		require.NoError(t, r.Resume(w.Patience(t)))
		settle()
		require.Equal(t, []string{"/services/orders/a a: drains false"}, h.news())
	})
}

// A hook receives all changes of a directory, as readers of the directory do.
func TestHookReceivesChangesOfDirectories(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for _, id := range []string{"a", "b"} {
			require.NoError(t, w.Fake.Create(base+"/orders/"+id, data(t, replica(id, 1))))
		}
		require.NoError(t, w.Fake.Create(base+"/orders/bad", []byte("garbage")))
		h := &witness{}
		c, _ := w.Connect(t, framework.WithHooks(h))
		d := w.directory(t, c)
		settle()
		require.Equal(t, []string{"+2 -0 ~0 !1 of 2"}, h.news())
		recreate(t, w, "a", replica("a", 1), time.Millisecond)
		require.Empty(t, h.news(), "it has not been away")
		recreate(t, w, "a", replica("a", 2), time.Millisecond)
		require.NoError(t, w.Fake.Set(base+"/orders/b", data(t, replica("b", 3))))
		settle()
		require.Equal(t, []string{"+1 -1 ~0 !0 of 2", "+0 -0 ~1 !0 of 2"}, h.news())
		require.NoError(t, w.Fake.Delete(base+"/orders/b"))
		passGrace()
		require.Equal(t, []string{"+0 -1 ~0 !0 of 1"}, h.news())
		require.NoError(t, d.Close())
		synctest.Wait()
		require.Equal(t, []string{"+0 -0 ~0 !0 of 1, the end"}, h.news())
	})
}

// A picker that knows its directory tells the directory's client of ejections.
func TestHookReceivesEjections(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		h := &witness{}
		c, _ := w.Connect(t, framework.WithHooks(h))
		d := w.directory(t, c)
		p, err := discovery.NewPicker(discovery.RoundRobin(), discovery.WithDirectory(d))
		require.NoError(t, err)
		p.Update(entries([]discovery.Instance{replica("0", 1), replica("1", 1), replica("2", 1)}))
		fail(t, p, "1")
		fail(t, p, "2") // it stays in: half of them are out
		synctest.Wait()
		require.Equal(t, []string{"1 is out for 10s: failed"}, h.news())
		_, err = discovery.NewPicker(discovery.RoundRobin(), discovery.WithDirectory(nil))
		require.Error(t, err)
	})
}
