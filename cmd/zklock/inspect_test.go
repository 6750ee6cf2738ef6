package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// Each form of each table, and each JSON line, changes only on purpose.
func TestOutputOfInspection(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := shop(t)
		for name, line := range map[string]string{
			"ls.table": "ls -r", "ls-all.table": "ls -r -a", "ls.json": "ls -r -o json --all",
			"show.table": "show /jobs/bill", "show.json": "show /jobs/bill -o json",
			"show-semaphore.table": "show /gate", "show-rw.table": "show /rw", "show-kazoo.table": "show /kazoo",
			"graph.table": "graph -r", "graph.json": "graph -o json -r /",
		} {
			got := s.zklock(t, strings.Fields(line)...)
			require.Zero(t, got.status, "%s: %s", line, got.err)
			require.Empty(t, got.err, line)
			requireGolden(t, name, got.out)
		}
	})
}

func TestLsSelects(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := shop(t)
		for line, want := range map[string]string{
			"ls":                        "/gate /kazoo /lead /rw",
			"ls /jobs":                  "/jobs/bill",
			"ls /jobs/bill":             "/jobs/bill",
			"ls --all /up":              "/up",
			"ls -r --held-over 2h30s /": "/jobs/bill /lead /rw",
			"ls -r --held-over 24h":     "",
		} {
			got := s.zklock(t, strings.Fields(line)...)
			require.Zero(t, got.status, got.err)
			var paths []string
			for i, row := range strings.Split(strings.TrimSpace(got.out), "\n") {
				if i > 0 && !strings.HasPrefix(row, "/kazoo") || i > 0 && line == "ls" {
					paths = append(paths, strings.Fields(row)[0])
				}
			}
			require.Equal(t, want, strings.Join(paths, " "), line)
			if want == "" {
				require.Equal(t, "nothing found\n", got.err)
			}
		}
	})
}

// Nothing was found, but not all was looked at.
func TestWalksOfOneLevelSaySo(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		require.NoError(t, s.Create("/a", nil))
		for line, says := range map[string]string{
			"ls": "nothing found at / and right below; -r looks deeper\n", "ls -r": "nothing found\n",
			"ls /a":    "nothing found at /a and right below; -r looks deeper\n",
			"graph":    "no waits at / and right below; -r looks deeper\n",
			"graph -r": "no waits\n", "graph / /a": "no waits at /, /a and right below; -r looks deeper\n",
			"ls -o json": "", "graph -o json": "",
		} {
			require.Equal(t, result{0, "", says}, s.zklock(t, strings.Fields(line)...), line)
		}
	})
}

// A table shortens a long name.
func TestALongNameIsShortened(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t)
		long := strings.Repeat("x", 100)
		node(t, c, "/a/"+guid(1)+"lock-", identity(long, 1))
		node(t, c, "/b/"+guid(2)+"lock-", long)
		for line, want := range map[string]bool{
			"ls": false, "show /a": false, "show /b": false, "show -o json /a": true,
		} {
			require.Equal(t, want, strings.Contains(s.zklock(t, strings.Fields(line)...).out, long), line)
		}
	})
}

// A node in the session of zklock run is the user's own.
func TestShowMarksTheOwnSession(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := shop(t)
		t.Setenv("ZKLOCK_SESSION", s.sessions[1])
		got := s.zklock(t, "show", "/jobs/bill")
		require.Equal(t, 1, strings.Count(got.out, "(own)"))
		require.Contains(t, got.out, "0x1000a2b3c4d00002 (own)")
	})
}

// A lock that nobody holds is free, whether it has a node or not.
func TestShowOfAFreeLock(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		require.NoError(t, s.Create("/idle", nil))
		for _, path := range []string{"/idle", "/never"} {
			require.Equal(t, result{0, path + "  free\n", ""}, s.zklock(t, "show", path))
			require.Equal(t, result{0, `{"path":"` + path + `","holders":0,"waiters":0}` + "\n", ""},
				s.zklock(t, "show", "-o", "json", path))
		}
	})
}

// What cannot be used is an error with the status of bad usage, before anybody
// is asked.
func TestBadUsageOfOperatorsCommands(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		for line, want := range map[string]string{
			"ls --kind mutex": "--kind", "ls a b": "unexpected argument", "show": "too few", "ls relative": "relative",
			"show /a/": "/a/", "free /a/b": "--czxid", "free /a/b --czxid x --yes": `"x"`,
			"free /a --czxid 1": "--yes", "revoke": "too few", "ls --held-over x": `"x"`,
		} {
			got := s.zklock(t, strings.Fields(line)...)
			require.Equal(t, badUsage, got.status, "%s: %s", line, got.err)
			require.Contains(t, got.err, want)
			require.Equal(t, 1, strings.Count(got.err, "\n"), got.err)
		}
	})
}

// A deadlock comes first, names its processes, and is the exit status.
func TestGraphFindsADeadlock(t *testing.T) {
	for name, line := range map[string]string{
		"deadlock.table": "graph", "deadlock.json": "graph -o json",
	} {
		inBubble(t, func(t *testing.T) {
			s := newStand(t)
			orders, billing := s.client(t), s.client(t)
			node(t, orders, "/x/"+guid(1)+"lock-", identity("orders", 1))
			node(t, billing, "/y/"+guid(2)+"lock-", identity("billing", 2))
			time.Sleep(time.Minute)
			node(t, billing, "/x/"+guid(3)+"lock-", identity("billing", 2))
			node(t, orders, "/y/"+guid(4)+"lock-", identity("orders", 1))
			time.Sleep(time.Minute - time.Second) // graph looks for a second
			got := s.zklock(t, strings.Fields(line)...)
			require.Equal(t, deadlocked, got.status, got.err)
			require.Empty(t, got.err)
			requireGolden(t, name, got.out)
		})
	}
}

// A path that may not be read is told, and is no reason to keep quiet about the
// rest.
func TestWhatMayNotBeRead(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := shop(t)
		c := s.client(t, framework.WithAuth("digest", []byte("joe:secret")))
		_, err := c.Create(t.Context(), "/secret", nil, framework.WithACL(zk.AuthACL(zk.PermAll)))
		require.NoError(t, err)
		got := s.zklock(t, "ls", "-r")
		require.Zero(t, got.status)
		require.Regexp(t, "(?m)^/secret +unreadable", got.out)
		require.Contains(t, got.out, "/lead ")
		require.Contains(t, s.zklock(t, "graph", "-r").err, "/secret cannot be read")
		require.Equal(t, result{0, "/secret  unreadable: children /secret: zk: not authenticated\n", ""}, s.zklock(t, "show", "/secret"))
	})
}

// A reader that goes away, such as head, ends the list with an error.
func TestLsIntoAPipeThatEnds(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := shop(t)
		r, w := io.Pipe()
		require.NoError(t, r.Close())
		for _, format := range []string{"table", "json"} {
			require.Equal(t, ownFailure, s.printTo(t, w, "ls", "-r", "-o", format))
		}
	})
}

// A root that does not exist is no empty list.
func TestRootThatIsMissing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		for _, command := range []string{"ls", "graph"} {
			require.Equal(t, result{refused, "", "zklock: /jbos: there is no such node\n"}, s.zklock(t, command, "/jbos"))
		}
	})
}
