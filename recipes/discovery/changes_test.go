package discovery_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

// A reader that begins during an interruption receives what the directory has, then the
// interruption, and then its end.
func TestReaderWhoBeginsDuringAnInterruption(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 1))))
		c, network := w.Connect(t)
		d := w.directory(t, c)
		network.Refuse(true)
		network.Cut()
		passGrace()
		require.True(t, d.Snapshot().Interrupted)
		news := follow(t, d)
		settle()
		require.Equal(t, []string{"added a:1", "interrupted"}, news())
		network.Refuse(false)
		require.NoError(t, c.WaitConnected(w.Patience(t)))
		passGrace()
		require.Equal(t, []string{"synced"}, news())
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
