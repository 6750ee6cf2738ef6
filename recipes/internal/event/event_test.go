package event_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/internal/event"
	"github.com/gocurator/curator/testing/zktest"
)

// hookTested receives the events of these tests.
type hookTested interface{ Tested(what string) }

var hookTestedKind = framework.NewHookKind[hookTested]()

func tell(what string) event.Hook {
	return event.Call(hookTestedKind, func(h hookTested) { h.Tested(what) })
}

var (
	eventEnds   = event.Kind{Warn: "it ends", Hook: tell("ends")}
	eventBegins = event.Kind{Info: "it begins"}
	eventTold   = event.Kind{Hook: tell("told")}
)

var errTest = errors.New("why")

// tested is a hook that hands on what happens.
type tested chan string

func (h tested) Tested(what string) { h <- what }

func withClient(t *testing.T, test func(c *framework.Client, h tested, log *recipetest.Log)) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		var log recipetest.Log
		h := make(tested, 9)
		c, err := framework.New(srv.Addr()+"/root", framework.WithDialer(srv.Dialer()), framework.WithHooks(h),
			framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.WaitConnected(t.Context()))
		synctest.Wait()
		test(c, h, &log)
	})
}

// last returns the last line of a log, without its time.
func last(log *recipetest.Log) string {
	synctest.Wait()
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	_, line, _ := strings.Cut(lines[len(lines)-1], " ")
	return line
}

// One call reports an event to log and hooks.
func TestAnEventIsToldToAll(t *testing.T) {
	withClient(t, func(c *framework.Client, h tested, log *recipetest.Log) {
		event.Of(c, "/a").Emit(eventEnds, errTest)
		require.Equal(t, `level=WARN msg="it ends" curator.znode.path=/root/a curator.cause=why`, last(log))
		require.Equal(t, "ends", <-h)
	})
}

// What a row of the table leaves out is not told.
func TestAnEventIsToldAsItsKindSays(t *testing.T) {
	withClient(t, func(c *framework.Client, h tested, log *recipetest.Log) {
		s := event.Of(c, "/a")
		s.At("/a/b").Emit(eventBegins, errTest, event.Session(-1))
		require.Equal(t, `level=INFO msg="it begins" curator.znode.path=/root/a/b curator.session.id=0xffffffffffffffff`, last(log))
		before := log.String()
		s.Emit(eventTold, errTest)
		synctest.Wait()
		require.Equal(t, before, log.String())
		event.OfLock(c, "/l").Emit(eventBegins, nil)
		require.Equal(t, `level=INFO msg="it begins" curator.lock.path=/root/l`, last(log))
	})
}

// Objects without a client, such as objects in tests, notify nobody.
func TestTheZeroSourceTellsNobody(t *testing.T) {
	event.Source{}.Emit(eventEnds, errTest)
	event.Of(nil, "/a").Emit(eventEnds, errTest)
}
