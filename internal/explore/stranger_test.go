package explore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// add is somebody's counter: it reads, adds one, and writes what nobody has
// changed meanwhile. mark makes each writer's data different.
func add(ctx context.Context, c *framework.Client, mark string) error {
	for {
		data, stat, err := c.Get(ctx, "/counter")
		if err != nil {
			return err
		}
		n, err := count(data)
		if err != nil {
			return err
		}
		_, err = c.Set(ctx, "/counter", []byte(strconv.Itoa(n+1)+mark), stat.Version)
		if !errors.Is(err, zk.ErrBadVersion) || errors.Is(err, framework.ErrOutcomeUnknown) {
			return err
		}
	}
}

// count reads the number, without the mark behind it.
func count(data []byte) (int, error) {
	number, _, _ := strings.Cut(string(data), " ")
	return strconv.Atoi(number)
}

// counter is all that somebody has to write who wants to know whether the
// counter is right in every order of events.
func counter(mark func(name string) string) Scenario {
	return func(w *World) {
		var certain, doubtful atomic.Int64
		w.Node("/counter", "0")
		for _, name := range []string{"A", "B"} {
			w.Actor(name, func(a *Actor) {
				err := a.Call("add", func(ctx context.Context) error { return add(ctx, a.Client(), mark(name)) })
				switch {
				case err == nil:
					certain.Add(1)
				case errors.Is(err, framework.ErrOutcomeUnknown):
					doubtful.Add(1)
				}
			})
		}
		w.AtEnd(func(tree Tree) error {
			n, err := count(tree["/counter"].Data)
			least, most := int(certain.Load()), int(certain.Load()+doubtful.Load())
			if err != nil || n < least || n > most {
				return fmt.Errorf("%q where %d to %d were added", tree["/counter"].Data, least, most)
			}
			return nil
		})
	}
}

func TestACounterOfSomebody(t *testing.T) {
	Search(t, counter(func(name string) string { return " " + name }), Limits{Deviations: 2, Schedules: 300})
}

// Two that write the same data over the same version are not told apart, as the
// documentation of Client.Set says.
func TestACounterThatForgetsWhoWrote(t *testing.T) {
	_, f := find(t, counter(func(string) string { return "" }), Limits{Deviations: 1})
	require.NotNil(t, f)
	require.Contains(t, f.result.Failure, `"1" where 2 to 2 were added`)
}
