package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/state"
)

// Some operations do not outlast the connection of their beginning. They return when
// it breaks, and those that come later at once, also if there is another one.
func TestOperationsOfOneConnectionOfAClient(t *testing.T) {
	for name, own := range map[string]trouble{"in peace": none, "cut": cut, "given up": givenUp, "moved": moved} {
		t.Run(name, func(t *testing.T) { explore.Search(t, ofOneConnection(own), brief()) })
	}
}

func ofOneConnection(own trouble) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/n", "0")
		w.Actor("A", func(a *explore.Actor) {
			s, err := a.Client().Session(context.Background())
			if err != nil {
				return
			}
			connection := s.Trusted(state.StandardPolicy)
			broken := make(chan time.Time, 1)
			context.AfterFunc(connection, func() { broken <- time.Now() })
			var over time.Time // of the connection
			for i := range 4 {
				if i == 1 {
					own(a)
				}
				wasOver, begun := connection.Err() != nil, time.Now()
				_ = a.Call("set", func(ctx context.Context) error {
					under := framework.Extend(a.Client()).WhileConnected(ctx, connection)
					_, err := a.Client().Set(under, "/n", []byte("1"), framework.AnyVersion)
					if err == nil && wasOver {
						w.Fail("an operation has used another connection")
					}
					return err
				})
				if connection.Err() != nil && over.IsZero() {
					over = <-broken
				}
				if begun.Before(over) {
					begun = over
				}
				if took := time.Since(begun); !over.IsZero() && took > 0 {
					w.Fail("an operation goes on for %v, and its connection has broken", took)
				}
				time.Sleep(300 * time.Millisecond)
			}
		})
	}
}
