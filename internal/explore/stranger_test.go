package explore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// add is somebody's counter: it reads, adds one, and writes what nobody has
// changed meanwhile, or whatever is there then.
func add(ctx context.Context, c *framework.Client, overwrites bool) error {
	for {
		data, stat, err := c.Get(ctx, "/counter")
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(data))
		if err != nil {
			return err
		}
		version := stat.Version
		if overwrites {
			version = framework.AnyVersion
		}
		_, err = c.Set(ctx, "/counter", []byte(strconv.Itoa(n+1)), version)
		if !errors.Is(err, zk.ErrBadVersion) || errors.Is(err, framework.ErrOutcomeUnknown) {
			return err
		}
	}
}

// counter is all that somebody has to write who wants to know whether the
// counter is right in every order of events.
func counter(overwrites bool) Scenario {
	return func(w *World) {
		var certain, doubtful atomic.Int64
		w.Node("/counter", "0")
		for _, name := range []string{"A", "B"} {
			w.Actor(name, func(a *Actor) {
				err := a.Call("add", func(ctx context.Context) error { return add(ctx, a.Client(), overwrites) })
				switch {
				case err == nil:
					certain.Add(1)
				case errors.Is(err, framework.ErrOutcomeUnknown):
					doubtful.Add(1)
				}
			})
		}
		w.AtEnd(func(tree Tree) error {
			n, err := strconv.Atoi(string(tree["/counter"].Data))
			least, most := int(certain.Load()), int(certain.Load()+doubtful.Load())
			if err != nil || n < least || n > most {
				return fmt.Errorf("%q where %d to %d were added", tree["/counter"].Data, least, most)
			}
			return nil
		})
	}
}

func TestACounterOfSomebody(t *testing.T) {
	Search(t, counter(false), Limits{Deviations: 2, Schedules: 300})
}

// Two that write over each other count once.
func TestACounterThatOverwrites(t *testing.T) {
	_, f := find(t, counter(true), Limits{Deviations: 1})
	require.NotNil(t, f)
	require.Contains(t, f.result.Failure, `"1" where 2 to 2 were added`)
}
