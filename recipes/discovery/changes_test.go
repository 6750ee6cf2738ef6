package discovery_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

// A reader that begins during an interruption is told of it behind what the
// directory has, and of its end.
func TestReaderWhoBeginsDuringAnInterruption(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		c, network := w.Connect(t)
		d := w.directory(t, c)
		network.Refuse(true)
		network.Cut()
		outlastGrace()
		require.True(t, d.Snapshot().Interrupted)
		news := follow(t, d)
		settle()
		require.Equal(t, []string{"added a:1", "interrupted"}, news())
		network.Refuse(false)
		require.NoError(t, c.WaitConnected(w.Patience(t)))
		outlastGrace()
		require.Equal(t, []string{"synced"}, news())
	})
}

// The caller owns what it appends to a list of instances.
func TestAppendToInstancesChangesNoOther(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for _, id := range []string{"a", "b", "c"} {
			require.NoError(t, w.Fake.Create(base+"/orders/"+id, data(t, replica(id, 1))))
		}
		s := w.directory(t, w.Observer).Snapshot()
		one := append(s.Instances(), replica("one", 1))
		two := append(s.Instances(), replica("two", 1))
		require.Equal(t, "one", one[3].ID)
		require.Equal(t, "two", two[3].ID)
	})
}

// A Picker is told of what each change leaves, also the last one.
func TestEndOfChangesHasTheDirectory(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		d := w.directory(t, w.Observer)
		p := newPicker(t, discovery.RoundRobin(), nil)
		for ch := range d.Changes(t.Context()) {
			p.Update(ch.Now.Entries)
			require.NoError(t, d.Close())
		}
		require.Equal(t, "a", pick(t, p))
	})
}

// A Picker needs one update for all changes of one step.
func TestChangesOfOneStepHaveOneSnapshot(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for n := range 100 {
			id := fmt.Sprint(n)
			require.NoError(t, w.Fake.Create(base+"/orders/"+id, data(t, replica(id, 1))))
		}
		d := w.directory(t, w.Observer)
		p := newPicker(t, discovery.RoundRobin(), nil)
		changes, updates := 0, 0
		var last *discovery.Snapshot
		for ch, err := range d.Changes(t.Context()) {
			require.NoError(t, err)
			changes++
			if ch.Now != last { // as the comment at Update says
				p.Update(ch.Now.Entries)
				last = ch.Now
				updates++
			}
			if ch.Type == discovery.Synced {
				break
			}
		}
		require.Equal(t, 101, changes)
		require.Equal(t, 1, updates)
		require.Len(t, counted(t, p, 100), 100)
	})
}

// A malformed node that has not changed is not told again, also if those before and
// behind it have changed together.
func TestMalformedNodeBetweenOthersIsToldOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for _, id := range []string{"a", "b", "c"} {
			require.NoError(t, w.Fake.Create(base+"/orders/"+id, []byte("garbage")))
		}
		c, network := w.Connect(t)
		news := follow(t, w.directory(t, c))
		settle()
		require.Equal(t, []string{"malformed a", "malformed b", "malformed c", "synced"}, news())
		network.Refuse(true)
		network.Cut()
		synctest.Wait()
		for _, id := range []string{"a", "c"} {
			require.NoError(t, w.Fake.Set(base+"/orders/"+id, []byte("other garbage")))
		}
		network.Refuse(false)
		require.NoError(t, c.WaitConnected(w.Patience(t)))
		outlastGrace()
		require.Equal(t, []string{"interrupted", "malformed a", "malformed c", "synced"}, news())
	})
}
