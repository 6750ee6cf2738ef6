package discovery_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

// recreate deletes and creates a node, as Java Curator does.
func recreate(t *testing.T, w *world, id string, i discovery.Instance, pause time.Duration) {
	t.Helper()
	require.NoError(t, w.Fake.Delete(base+"/orders/"+id))
	time.Sleep(pause)
	require.NoError(t, w.Fake.Create(base+"/orders/"+id, data(t, i)))
	settle()
}

// A node that vanishes and comes back within the grace is no change, if it is at
// the same address. The instance keeps its first czxid.
func TestFlickerIsNoChange(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		d := w.directory(t, w.Observer)
		since := d.Snapshot().Entries[0].Since
		news := follow(t, d)
		settle()
		require.Equal(t, []string{"added a:1", "synced"}, news())
		for _, pause := range []time.Duration{0, time.Millisecond, 900 * time.Millisecond} {
			recreate(t, w, "a", replica("a", 1), pause)
		}
		passGrace()
		require.Empty(t, news())
		require.Equal(t, since, d.Snapshot().Entries[0].Since)

		changed := replica("a", 1)
		changed.Metadata = map[string]string{"zone": "b"}
		recreate(t, w, "a", changed, time.Millisecond)
		require.Equal(t, []string{"updated a:1"}, news())
		require.Equal(t, since, d.Snapshot().Entries[0].Since)

		recreate(t, w, "a", replica("a", 2), time.Millisecond)
		require.Equal(t, []string{"removed a:1", "added a:2"}, news(), "another instance")
		require.Greater(t, d.Snapshot().Entries[0].Since, since)

		recreate(t, w, "a", replica("a", 2), 1100*time.Millisecond)
		require.Equal(t, []string{"removed a:2", "added a:2"}, news(), "the grace is over")
	})
}

// An instance whose node is gone goes after the grace, and one that drained goes
// at once.
//
// Promise: An instance that announced its end leaves the directory at once.
func TestRemovalGrace(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		draining := replica("b", 2)
		draining.Disabled = true
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		require.NoError(t, w.Fake.Create(base+"/orders/b", data(t, draining)))
		d := w.directory(t, w.Observer)
		at0 := w.directory(t, w.Observer, discovery.WithRemovalGrace(0))
		require.Equal(t, []string{"a:1", "b:2 drains"}, names(d))
		require.Len(t, d.Instances(), 1)
		require.NoError(t, w.Fake.Delete(base+"/orders/b"))
		require.NoError(t, w.Fake.Delete(base+"/orders/a"))
		settle()
		require.Equal(t, []string{"a:1"}, names(d))
		require.Empty(t, names(at0))
		time.Sleep(800 * time.Millisecond)
		require.Equal(t, []string{"a:1"}, names(d))
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		require.Empty(t, names(d))
	})
}

// The removal grace begins again after an outage: an instance whose node went just
// before that may come back just after it.
//
// Promise: The removal grace does not run while the directory is interrupted.
func TestRemovalGraceOverAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		c, network := w.Connect(t)
		d := w.directory(t, c)
		news := follow(t, d)
		settle()
		news()
		require.NoError(t, w.Fake.Delete(base+"/orders/a"))
		settle()
		network.Refuse(true)
		network.Cut()
		time.Sleep(time.Hour)
		network.Refuse(false)
		require.NoError(t, c.WaitConnected(w.Patience(t)))
		settle()
		require.False(t, d.Snapshot().Interrupted)
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		passGrace()
		require.Equal(t, []string{"interrupted", "synced"}, news())
		require.NoError(t, w.Fake.Delete(base+"/orders/a"))
		passGrace()
		require.Equal(t, []string{"removed a:1"}, news())
	})
}
