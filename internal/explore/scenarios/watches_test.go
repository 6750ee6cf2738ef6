package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/testing/zktest"
)

// onlooking has a client that follows what another one changes.
func onlooking(own trouble) explore.Scenario {
	return func(w *explore.World) {
		o := watchOnlooker(w, own)
		w.Actor("A", func(a *explore.Actor) {
			o.actor = a
			_ = a.CallWithin("follow", time.Second, o.follow)
		})
		w.Actor("B", o.changes)
	}
}

func TestWatchesOfAClient(t *testing.T) {
	for _, c := range []struct {
		name string
		own  trouble
	}{
		{"in peace", none},
		{"cut", cut},
		{"cut for a while", both(meets(zktest.OpConnect, zktest.DelayRequest(400*time.Millisecond)), cut)},
		{"expired", expired},
		{"given up", givenUp},
		{"moved", moved},
	} {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, onlooking(c.own), brief()) })
	}
}

// The servers lag, and the client comes to another one.
func TestWatchesOfAClientInAnEnsemble(t *testing.T) {
	for _, c := range []struct {
		name string
		own  trouble
	}{
		{"cut", cut},
		{"expired", expired},
		{"expired, and cut early", both(expired, meets(zktest.OpExists, zktest.DropReply()))},
	} {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, inEnsemble(onlooking(c.own), 0, time.Second), brief()) })
	}
}

// listen hears of the writes by a persistent watch, and reads them.
func (o *onlooker) listen(ctx context.Context) error {
	c := o.actor.Client()
	for ctx.Err() == nil {
		w, err := c.NewWatcher(ctx, "/m")
		if err == nil {
			err = o.listenTo(ctx, w)
			w.Close()
		}
		if isEnd(o.actor, err) {
			return err
		}
		select {
		case <-o.over:
			return nil
		default:
			sleeps(ctx, 100*time.Millisecond)
		}
	}
	return context.Cause(ctx)
}

// listenTo returns after some reads, so that there is another watch then.
func (o *onlooker) listenTo(ctx context.Context, w *framework.Watcher) error {
	var last int64
	for range 4 {
		_, stat, err := o.actor.Client().Get(ctx, "/m")
		if err != nil {
			return err
		}
		told := false
		for {
			_, some, err := w.Poll()
			if err != nil {
				return err
			}
			if !some {
				break
			}
			told = true
		}
		if last != 0 && stat.Mzxid > last && !told {
			o.world.Fail("%s reads transaction %#x, and was told nothing since %#x", o.actor.Name(), stat.Mzxid, last)
		}
		last = stat.Mzxid
		select {
		case <-w.Changed():
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(500 * time.Millisecond):
		}
	}
	return nil
}
