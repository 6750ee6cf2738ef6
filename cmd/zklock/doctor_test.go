package main

import (
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/hostname"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// noProcess is an id that no process has: it is beyond the largest one.
const noProcess = 1 << 30

// patient replaces what is different in each run of the doctor.
func patient(text string) string {
	text = strings.ReplaceAll(text, hostname.Get(), "web-9")
	text = regexp.MustCompile(` +\d+ms +standalone`).ReplaceAllString(text, "  5ms  standalone")
	text = regexp.MustCompile(`"latency_seconds":[0-9.]+`).ReplaceAllString(text, `"latency_seconds":0.005`)
	return text
}

// A healthy ensemble has no findings, and the doctor leaves nothing behind.
func TestDoctorFindsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := shop(t)
		before := len(s.Tree())
		for name, format := range map[string]string{"healthy.table": "table", "healthy.json": "json"} {
			got := s.zklock(t, "doctor", "-o", format)
			require.Zero(t, got.status, got.err+got.out)
			requireGolden(t, name, patient(got.out))
		}
		require.Len(t, s.Tree(), before)
	})
}

// Each kind of leftover is found. Hints alone are nothing wrong.
func TestDoctorFindsLeftovers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("processes are not looked up here")
		}
		s := shop(t)
		c := s.client(t)
		_, err := c.Create(t.Context(), "/jobs/bill/README", []byte("do not touch"))
		require.NoError(t, err)
		_, err = c.Create(t.Context(), "/old/lock", nil, framework.WithPersistentParents())
		require.NoError(t, err)
		require.NoError(t, c.Delete(t.Context(), "/old/lock", framework.AnyVersion))
		got := s.zklock(t, "doctor")
		require.Zero(t, got.status, got.out)
		require.Equal(t, 2, strings.Count(got.out, "hint: "), got.out)

		_, err = c.Create(t.Context(), "/stays/"+guid(1)+"lock-", []byte("10.0.0.9"), framework.WithMode(framework.PersistentSequential), framework.WithParents())
		require.NoError(t, err)
		dead := strings.ReplaceAll(identity("orders", noProcess), "web-1", hostname.Get())
		node(t, c, "/stale/"+guid(2)+"lock-", dead)
		for name, format := range map[string]string{"unwell.table": "table", "unwell.json": "json"} {
			got := s.zklock(t, "doctor", "-o", format)
			require.Equal(t, unwell, got.status, got.err)
			requireGolden(t, name, patient(got.out))
		}
	})
}

// A stranger is told once, however many recipes have the path.
func TestDoctorTellsAStrangerOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t)
		for i, name := range []string{"lock-", "__READ__", "latch-"} {
			node(t, c, "/many/"+guid(i)+name, identity("orders", 4711))
		}
		_, err := c.Create(t.Context(), "/many/README", nil)
		require.NoError(t, err)
		got := s.zklock(t, "doctor")
		require.Equal(t, 1, strings.Count(got.out, "stranger in a queue"), got.out)
	})
}

// A server that does not answer is named. If none does, the status says so.
func TestDoctorAsksEachServer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		got := s.zklock(t, "-S", s.Addr()+",127.0.0.1:9", "doctor")
		require.Equal(t, unwell, got.status, got.err)
		require.Regexp(t, `(?m)^127.0.0.1:9 +no `, got.out)
		require.Regexp(t, `(?m)^server does not answer +127.0.0.1:9 .*refused`, got.out)
		got = s.zklock(t, "-S", "127.0.0.1:9", "doctor")
		require.Equal(t, noServer, got.status, got.err)
		require.Equal(t, badUsage, s.zklock(t, "-S", "127.0.0.1:9:9", "doctor").status)
	})
}

// A chroot that does not exist is as good as another server.
func TestDoctorMissesTheChroot(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		got := s.zklock(t, "-S", s.Addr()+"/shpo", "doctor")
		require.Equal(t, unwell, got.status, got.err)
		require.Contains(t, got.out, "no chroot")
		require.Len(t, s.Tree(), len(newStand(t).Tree()), "and is not created")
	})
}

// The offset of the clock is measured, and told when ages are wrong.
func TestDoctorComparesClocks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		offset := 90 * time.Second
		s := newStand(t, zkinside.With(zkinside.Settings{WallClock: func() time.Time { return time.Now().Add(offset) }}).(zktest.Option))
		got := s.zklock(t, "doctor")
		require.Equal(t, unwell, got.status)
		require.Contains(t, got.out, "the server is 1m30s ahead, give or take 1ms")
		require.Contains(t, got.out, "ages are wrong by 1m30s")
		offset = -500 * time.Millisecond
		got = s.zklock(t, "doctor")
		require.Zero(t, got.status)
		require.Contains(t, got.out, "the server is 500ms behind")
	})
}

// The granted session timeout is told if it is another.
func TestDoctorTellsTheSessionTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t, zktest.WithSessionTimeouts(time.Second, 6*time.Second))
		require.Contains(t, s.zklock(t, "doctor").out, "timeout 6s, negotiated: 10s was asked for")
		require.Contains(t, s.zklock(t, "doctor", "--session-timeout", "5").out, "timeout 5s, as asked for")
	})
}
