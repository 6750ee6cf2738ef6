package interop_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

// contender is somebody who wants a lock, in one of the languages. It wants one lock at a time.
type contender interface {
	// acquire returns errTimeout or an error that matches context.DeadlineExceeded if there is no lock within wait.
	acquire(path string, wait time.Duration) (grant, error)
}

// grant is a lock held by somebody.
type grant struct {
	node    string // the path of the holder's node
	token   int64  // its czxid
	release func() error
}

// goContender is a client of ours. Each acquire is a contender of its own.
type goContender struct{ client *framework.Client }

func (c goContender) acquire(path string, wait time.Duration) (grant, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	lease, err := recipes.NewInterProcessMutex(c.client, path).Acquire(ctx)
	if err != nil {
		return grant{}, err
	}
	return grant{lease.Path(), lease.FencingToken(), func() error { return lease.Release(context.Background()) }}, nil
}

// javaContender is a thread of a Java process.
type javaContender struct {
	peer *peer
	name string
}

func (c javaContender) acquire(path string, wait time.Duration) (grant, error) {
	words, err := c.peer.ask(context.Background(), "acquire", c.name, path, wait.Milliseconds())
	if err != nil {
		return grant{}, err
	}
	if len(words) != 2 {
		return grant{}, fmt.Errorf("java: acquire: unexpected answer %q", words)
	}
	token, err := strconv.ParseInt(words[1], 10, 64)
	return grant{words[0], token, func() error {
		_, err := c.peer.ask(context.Background(), "release", c.name)
		return err
	}}, err
}

// language says who plays a role. Scenarios that are told alike for both are told once.
type language string

const (
	inGo   language = "Go"
	inJava language = "Java"
)

// contender returns a contender in a client or process of its own.
func (w *world) contender(t *testing.T, l language) contender {
	t.Helper()
	if l == inGo {
		return goContender{w.connect(t, longSession)}
	}
	return javaContender{startPeer(t, w.addr, longSession), "thread"}
}

// bothWays runs a scenario of two roles in both worlds, first with the roles in Go and Java, then the other way around.
func bothWays(t *testing.T, scenario func(t *testing.T, w *world, one, two language)) {
	t.Helper()
	for _, l := range [][2]language{{inGo, inJava}, {inJava, inGo}} {
		t.Run(fmt.Sprintf("%s,%s", l[0], l[1]), func(t *testing.T) {
			inBothWorlds(t, func(t *testing.T, w *world) { scenario(t, w, l[0], l[1]) })
		})
	}
}

// acquire returns a lock, or fails the test.
func acquire(t *testing.T, c contender, path string) grant {
	t.Helper()
	g, err := c.acquire(path, tooLong)
	require.NoError(t, err)
	return g
}

// pending is an acquire under way.
type pending struct {
	grant grant
	err   error
	done  chan struct{}
}

func acquireLater(c contender, path string, wait time.Duration) *pending {
	p := &pending{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.grant, p.err = c.acquire(path, wait)
	}()
	return p
}

func (p *pending) wait(t *testing.T) grant {
	t.Helper()
	<-p.done
	require.NoError(t, p.err)
	return p.grant
}

func (p *pending) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
