package zkwatcher_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"

	zkwatcher "github.com/gocurator/curator/contrib/casbin"
)

func TestLoadThatFailsIsRepeated(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.instance(t)
		b.loads()
		b.does(func() error { return errors.New("the database is down") })
		require.NoError(t, a.Update())
		time.Sleep(5 * time.Minute)
		failed := b.times()
		require.Equal(t, 100*time.Millisecond, failed[1].Sub(failed[0]))
		require.Equal(t, 200*time.Millisecond, failed[2].Sub(failed[1]))
		require.Equal(t, 30*time.Second, failed[len(failed)-1].Sub(failed[len(failed)-2]))
		b.does(nil)
		time.Sleep(time.Minute)
		require.Equal(t, 1, b.loads())
		require.NoError(t, b.client.Close())
		require.Equal(t, 1, strings.Count(b.log.String(), "policy could not be loaded"))
		require.Contains(t, b.log.String(), "the database is down")
	})
}

func TestLoadThatEndsItsGoroutineIsRepeated(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.instance(t)
		b.loads()
		var once sync.Once
		b.does(func() error { once.Do(runtime.Goexit); return nil })
		require.NoError(t, a.Update())
		settle()
		require.Equal(t, 2, b.loads())
		require.NoError(t, b.client.Close())
		require.Contains(t, b.log.String(), "callback has ended its goroutine")
	})
}

// The process ends, and says why. This is the only way that nobody misses.
func TestLoadThatPanicsEndsTheProcess(t *testing.T) {
	const inChild = "ZKWATCHER_PANIC"
	if os.Getenv(inChild) != "" {
		srv := zktest.Start(t)
		client := connect(t, srv)
		w, err := zkwatcher.New(client, path, func() error { panic("malformed policy") })
		require.NoError(t, err)
		<-w.Done()
		return
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=1m")
	child.Env = append(os.Environ(), inChild+"=1")
	out, err := child.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "panic: malformed policy")
}

func TestCallbacksRunOneAtATime(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.instance(t)
		b.loads()
		var running atomic.Int32
		b.does(func() error {
			if running.Add(1) != 1 {
				t.Error("two at a time")
			}
			defer running.Add(-1)
			time.Sleep(time.Second)
			return nil
		})
		var last time.Time
		for range 50 {
			require.NoError(t, a.Update())
			last = time.Now()
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		begun := b.times()
		require.Less(t, len(begun), 10, "many changes are one callback")
		require.False(t, begun[len(begun)-1].Before(last), "the last callback begins after the last change")
	})
}

// A load may have read the policy before the change, and undo it in memory.
func TestUpdateDuringALoadCallsBackAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.instance(t)
		a.loads()
		goOn := make(chan struct{})
		a.does(func() error { <-goOn; return nil })
		require.NoError(t, b.Update())
		settle()
		require.Equal(t, 1, a.loads())
		require.NoError(t, a.Update(), "it does not wait for the callback")
		settle()
		require.Zero(t, a.loads())
		close(goOn)
		settle()
		require.Equal(t, 1, a.loads())
	})
}

func TestUpdateInTheCallbackDoesNotCallBackAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.instance(t)
		a.loads()
		b.loads()
		a.does(func() error { return a.Update() })
		require.NoError(t, b.Update())
		time.Sleep(time.Minute)
		require.Equal(t, []int{1, 1}, []int{a.loads(), b.loads()})
	})
}

func TestCloseWaitsForTheCallback(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.instance(t)
		b.loads()
		goOn := make(chan struct{})
		b.does(func() error { <-goOn; return errors.New("is not repeated") })
		require.NoError(t, a.Update())
		settle()
		require.Equal(t, 1, b.loads())
		closed := make(chan struct{})
		go func() { b.Close(); close(closed) }()
		settle()
		select {
		case <-closed:
			require.Fail(t, "the callback still runs")
		default:
		}
		close(goOn)
		<-closed
		require.NoError(t, a.Update())
		time.Sleep(time.Minute)
		require.Zero(t, b.loads())
		b.Close()
	})
}

func TestCloseInTheCallback(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.instance(t)
		b.loads()
		b.does(func() error { b.Close(); return errors.New("is not repeated") })
		require.NoError(t, a.Update())
		<-b.Done()
		require.NoError(t, a.Update())
		time.Sleep(time.Minute)
		require.Equal(t, 1, b.loads())
	})
}

// The client waits for no callback: that may close it.
func TestCloseOfTheClientInTheCallback(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.instance(t)
		b.loads()
		b.does(b.client.Close)
		require.NoError(t, a.Update())
		<-b.Done()
		b.Close()
		require.Equal(t, 1, b.loads())
	})
}

// Without a function to load, casbin's callback is called, as soon as it is
// set.
func TestCallbackThatCasbinSets(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.process(t)
		b.watch(t, nil)
		require.NoError(t, a.Update())
		settle()
		require.NoError(t, b.SetUpdateCallback(func(text string) {
			if text != "" {
				t.Error(text)
			}
			b.load()
		}))
		settle()
		require.Equal(t, 1, b.loads())
		require.NoError(t, a.Update())
		settle()
		require.Equal(t, 1, b.loads())
		var others atomic.Int32
		require.NoError(t, b.SetUpdateCallback(func(string) { others.Add(1) }))
		require.NoError(t, a.Update())
		settle()
		require.Zero(t, b.loads())
		require.EqualValues(t, 1, others.Load())
	})
}

// A function to load takes the place of casbin's callback.
func TestCallbackIsNotCalledBesideALoad(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.instance(t)
		require.NoError(t, b.SetUpdateCallback(func(string) { t.Error("called") }))
		require.NoError(t, a.Update())
		settle()
		require.Equal(t, 2, b.loads())
	})
}
