package explore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// A request is carried out late with one deviation: behind those that its client
// has made since, in another session.
func TestALateRequestArrives(t *testing.T) {
	_, f := find(t, func(w *World) {
		w.Node("/n", "")
		written := 0
		w.Actor("A", func(a *Actor) {
			for _, data := range []string{"first", "second"} {
				err := a.Call("write", func(ctx context.Context) error {
					_, err := a.Client().Set(ctx, "/n", []byte(data), framework.AnyVersion)
					return err
				})
				if err == nil {
					written++
				}
			}
		})
		w.AtEnd(func(tree Tree) error {
			if written == 2 && string(tree["/n"].Data) != "second" {
				return errors.New("the first write has come last")
			}
			return nil
		})
	}, Limits{Deviations: 1, Workers: 1})
	require.NotNil(t, f)
	require.Contains(t, f.result.Failure, "the first write has come last")
	require.Len(t, f.choices, 1)
}

// With one deviation a client has another session at once, beside the node that it
// has made in the last one without hearing of that.
func TestALostAnswerOfASessionThatGoesOn(t *testing.T) {
	_, f := find(t, alone(func(w *World, a *Actor) {
		begun := time.Now()
		create := func(ctx context.Context) error {
			_, err := a.Client().Create(ctx, "/n", nil, framework.WithMode(framework.Ephemeral))
			return err
		}
		err := a.Call("create", create)
		if errors.Is(err, framework.ErrOutcomeUnknown) {
			err = a.Call("create again", create)
		}
		if errors.Is(err, zk.ErrNodeExists) && !errors.Is(err, anything) && time.Since(begun) < time.Second {
			w.Fail("the node of the last session is there")
		}
		_ = a.Client().Delete(context.Background(), "/n", framework.AnyVersion, framework.WithGuarantee())
	}), Limits{Deviations: 1, Workers: 1})
	require.NotNil(t, f)
	require.Contains(t, f.result.Failure, "the node of the last session is there")
	require.Len(t, f.choices, 1)
}
