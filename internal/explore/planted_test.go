package explore

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// bug is what is wrong with a lock that a test has made for the search.
type bug int

const (
	nothing bug = iota
	unprotected
	noList
	deafToTheSession
	deafToTheContext
)

// planted is a lock that is written as it is again and again.
type planted struct {
	client *framework.Client
	bug    bug
	node   framework.Created
}

func (l *planted) acquire(ctx context.Context) (err error) {
	opts := []framework.CreateOption{framework.WithMode(framework.EphemeralSequential)}
	if l.bug != unprotected {
		opts = append(opts, framework.WithProtection())
	}
	if l.node, err = l.client.Create(ctx, "/lock/n-", nil, opts...); err != nil {
		return err
	}
	if err = l.wait(ctx); err != nil {
		go l.leave()
	}
	return err
}

func (l *planted) leave() {
	_ = l.client.Delete(context.Background(), l.node.Path, -1, framework.WithGuarantee())
}

func (l *planted) wait(ctx context.Context) error {
	for {
		names, _, err := l.client.Children(ctx, "/lock")
		if err != nil {
			return err
		}
		slices.SortFunc(names, func(a, b string) int { return strings.Compare(a[len(a)-10:], b[len(b)-10:]) })
		i := slices.Index(names, strings.TrimPrefix(l.node.Path, "/lock/"))
		switch {
		case i < 0:
			return zk.ErrNoNode
		case i == 0:
			return nil
		}
		until := ctx
		if l.bug == deafToTheContext {
			until = context.WithoutCancel(ctx)
		}
		there, _, watch, err := l.client.ExistsW(until, "/lock/"+names[i-1])
		if err != nil {
			return err
		}
		if there {
			_, err = watch.Wait(until)
		}
		watch.Stop()
		if err != nil {
			return err
		}
		if l.bug == noList {
			return nil
		}
	}
}

func (l *planted) lease() context.Context {
	if l.bug == deafToTheSession {
		return context.Background()
	}
	return l.node.Session.Context()
}

// token is 0 for a lock that shows its fault by its tokens before it shows it by
// two that are inside.
func (l *planted) token() int64 {
	if l.bug == noList {
		return 0
	}
	return l.node.Czxid
}

func plantedLock(b bug, contenders int) Scenario {
	return func(w *World) {
		w.Node("/lock", "")
		inside := w.Section("the lock", 1)
		for i := range contenders {
			w.Actor(string(rune('A'+i)), func(a *Actor) {
				l := &planted{client: a.Client(), bug: b}
				if a.Call("acquire", l.acquire) != nil {
					return
				}
				leave := inside.Enter(a, l.lease(), l.token())
				if b == deafToTheSession {
					time.Sleep(10 * time.Second) // long enough to lose a session
				}
				a.Pause("works")
				leave()
				_ = a.Call("release", func(ctx context.Context) error {
					return a.Client().Delete(ctx, l.node.Path, -1, framework.WithGuarantee())
				})
			})
		}
	}
}

func TestPlanted(t *testing.T) {
	for _, c := range []struct {
		name       string
		bug        bug
		contenders int
		want       string
	}{
		{"unprotected", unprotected, 2, "ephemeral node"},
		{"no list", noList, 3, "are in the lock at once"},
		{"deaf to the session", deafToTheSession, 2, "A and B are in the lock at once"},
		{"deaf to the context", deafToTheContext, 2, "acquire does not return"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, f := find(t, plantedLock(c.bug, c.contenders), Limits{Deviations: 2, Schedules: 10_000})
			require.NotNil(t, f)
			require.Contains(t, f.result.Failure, c.want)
		})
	}
}
