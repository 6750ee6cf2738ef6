package locks_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/locks"
)

func TestIdentityIsWhatThisProcessSaysOfItself(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		c, _ := w.Connect(t, framework.WithServiceName("orders"))
		before := time.Now()
		lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path))
		host, err := os.Hostname()
		require.NoError(t, err)

		all, err := locks.NewInterProcessMutex(w.Observer, path).Participants(ctx)
		require.NoError(t, err)
		require.Len(t, all, 1)
		id := all[0].Identity()
		require.WithinRange(t, id.Since, before.Truncate(time.Millisecond), time.Now())
		id.Since = time.Time{}
		require.Equal(t, locks.Identity{Service: "orders", Host: host, PID: os.Getpid()}, id)
		require.Equal(t, fmt.Sprintf("orders@%s/%d", host, os.Getpid()), id.String())
		require.Equal(t, all[0].Identity(), locks.ReadIdentity(all[0].Data))

		_, err = locks.NewInterProcessMutex(w.Observer, path).TryAcquire(ctx)
		var held *locks.NotAcquiredError
		require.ErrorAs(t, err, &held)
		require.Equal(t, all[0].Identity(), held.Identity())
		require.ErrorContains(t, err, fmt.Sprintf("held by orders@%s/%d, node ", host, os.Getpid()))
		require.NoError(t, lease.Release(ctx))
	})
}

func TestIdentityBeginsWithTheWaitAndStaysThroughALoss(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		holder, _ := w.Connect(t)
		held := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(holder, path))
		c, _ := w.Connect(t)
		begin := time.Now()
		waiting := locktest.AcquireLater(ctx, locks.NewInterProcessMutex(c, path))
		w.WaitNodes(t, path, 2)
		time.Sleep(time.Minute)
		w.Fake.Session(c.SessionID()).Expire()
		time.Sleep(time.Minute)
		require.NoError(t, held.Release(ctx))
		lease := waiting.Wait(t)
		data, _, err := w.Observer.Get(ctx, lease.Path())
		require.NoError(t, err)
		require.True(t, locks.ReadIdentity(data).Since.Equal(begin.Truncate(time.Millisecond)))
		require.NoError(t, lease.Release(ctx))
	})
}

func TestIdentityIsBounded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, path := w.Patience(t), recipetest.Path(t)
		for _, name := range []string{strings.Repeat("x", 10_000), strings.Repeat("\x00\"\\<", 1000), strings.Repeat("é", 1000), "\xff\xfe"} {
			c, _ := w.Connect(t, framework.WithServiceName(name))
			lease := locktest.Acquire(t, ctx, locks.NewInterProcessMutex(c, path))
			data, _, err := w.Observer.Get(ctx, lease.Path())
			require.NoError(t, err)
			require.LessOrEqual(t, len(data), 512)
			require.True(t, json.Valid(data), "%s", data)
			id := locks.ReadIdentity(data)
			require.NotZero(t, id.Host)
			require.LessOrEqual(t, len(id.Service), 100)
			require.NoError(t, lease.Release(ctx))
		}
	})
}

func TestForeignDataIsNoIdentity(t *testing.T) {
	for data, foreign := range map[string]string{
		"":                          "",
		"10.0.0.3":                  "10.0.0.3",
		"web-1/4711":                "web-1/4711",
		"null":                      "null",
		"{}":                        "{}",
		`{"v":2,"host":"web-1"}`:    `{"v":2,"host":"web-1"}`,
		`{"v":1,"pid":"many"}`:      `{"v":1,"pid":"many"}`,
		"__REVOKE__":                "__REVOKE__",
		"two\nlines":                "",
		"\xac\xed\x00\x05t\x00\x04": "",
		strings.Repeat("é", 1000):   strings.Repeat("é", 50),
		strings.Repeat("[", 10_000): strings.Repeat("[", 100),
	} {
		id := locks.ReadIdentity([]byte(data))
		require.Equal(t, locks.Identity{Foreign: foreign}, id)
		require.Equal(t, "unknown", id.String())
		require.Equal(t, foreign == "", id.IsZero())
	}
	hostile := locks.ReadIdentity([]byte(`{"v":1,"host":"a\nb","service":"` + strings.Repeat("s", 300) + `","pid":-3}`))
	require.Equal(t, locks.Identity{Service: strings.Repeat("s", 100)}, hostile)
}

func TestNotAcquiredErrorQuotesWhatIsForeign(t *testing.T) {
	err := &locks.NotAcquiredError{Path: "/l", Ahead: 1, Holder: "lock-0000000000"}
	require.EqualError(t, err, "acquire /l: not acquired: 1 ahead, held by lock-0000000000")
	err.HolderData = []byte("10.0.0.3")
	require.EqualError(t, err, `acquire /l: not acquired: 1 ahead, held by "10.0.0.3", node lock-0000000000`)
	err.HolderData = []byte(`{"v":1,"host":"web-1","pid":7,"service":"orders"}`)
	require.EqualError(t, err, `acquire /l: not acquired: 1 ahead, held by orders@web-1/7, node lock-0000000000`)
}

// FuzzReadIdentity checks that any data of a node makes an identity that is
// short and fits into a line.
func FuzzReadIdentity(f *testing.F) {
	f.Add([]byte(`{"v":1,"host":"web-1","pid":4711,"service":"orders","since":"2026-01-02T15:04:05.678Z","trace":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}`))
	f.Add([]byte("10.0.0.3"))
	f.Add([]byte("{\"v\":1,\"host\":\"\u2028\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		id := locks.ReadIdentity(data)
		for _, s := range []string{id.String(), id.Foreign} {
			if len(s) > 250 || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%q", s)
			}
		}
		if known := id.Service != "" || id.Host != ""; known && id.Foreign != "" {
			t.Errorf("both known and foreign: %+v", id)
		}
	})
}
