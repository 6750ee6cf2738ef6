//go:build real

package interop_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var stress = flag.Duration("stress", 5*time.Second,
	"how long the languages compete for each kind of lock, on each server")

// workload says which contenders compete for a lock.
type workload struct {
	capacity int // of the register
	demands  map[language][]demand
}

func (m workload) nodes(path string) string { return m.demands[inGo][0].kind.nodes(path) }

// demand is the kind that a contender wants again and again, and its weight in
// the checker.
type demand struct {
	kind   kind
	weight int
}

// both returns a workload in which both languages have the same demands.
func both(capacity int, wants ...demand) workload {
	return workload{capacity, map[language][]demand{inGo: wants, inJava: wants}}
}

var workloads = map[string]workload{
	"mutex":      both(1, demand{mutex, 1}, demand{mutex, 1}, demand{mutex, 1}),
	"read-write": both(100, demand{reading, 1}, demand{reading, 1}, demand{writing, 100}),
	// With fewer leases, Java might have one of two in each of its processes
	// while our contenders wait for the rest.
	"semaphore":      both(4, demand{leases(1, 4), 1}, demand{leases(1, 4), 1}, demand{leases(2, 4), 2}),
	"semaphoreMutex": both(1, demand{semaphoreMutex, 1}, demand{leases(1, 1), 1}),
	"multi": {1, map[language][]demand{
		inGo:   {{multi, 1}, {multi, 1}, {mutex, 1}},
		inJava: {{mutex, 1}, {mutex, 1}},
	}},
}

// Contenders of both languages, several on each connection, take the lock as
// often as they can. The checker does not use ZooKeeper. It must never see more
// holders at once than allowed, and only growing tokens.
//
// Promise: Go, Java and Python clients exclude each other.
func TestLanguagesExcludeEachOther(t *testing.T) {
	t.Parallel()
	for name, load := range workloads {
		t.Run(name, func(t *testing.T) {
			onFakeAndReal(t, func(t *testing.T, srv *testServer) { srv.compete(t, load) })
		})
	}
}

func (srv *testServer) compete(t *testing.T, load workload) {
	lock, checker := lockPath(t), openLockChecker(t, load.capacity)
	var contenders []func() error
	for range 2 {
		java, client := startPeer(t, srv.addr, longSession), srv.connect(t, longSession)
		of := map[language]func(i int) contender{
			inGo:   func(int) contender { return goContender{client: client} },
			inJava: func(i int) contender { return javaContender{peer: java, name: fmt.Sprint(i)} },
		}
		for language, wants := range load.demands {
			for i, want := range wants {
				c := of[language](i).withKind(want.kind)
				contenders = append(contenders, func() error {
					return c.cycle(lock, checker, want.weight, *stress)
				})
			}
		}
	}
	const enough = 25
	seen := tally{}
	// A busy machine may need several rounds.
	for begin := time.Now(); time.Since(begin) < 2*waitLimit; {
		ended := make(chan error, len(contenders))
		for _, run := range contenders {
			go func() { ended <- run() }()
		}
		for range contenders {
			require.NoError(t, <-ended)
		}
		seen = checker.tally()
		least := min(seen.entered[inGo], seen.entered[inJava], seen.crossing)
		if least > enough && (load.capacity == 1 || seen.most > 1) {
			break
		}
	}
	t.Logf("cycles: %d in Go, %d in Java", seen.entered[inGo], seen.entered[inJava])
	t.Logf("changes of language: %d; most holders at once: %d", seen.crossing, seen.most)
	require.Greater(t, seen.entered[inGo], enough)
	require.Greater(t, seen.entered[inJava], enough)
	require.Greater(t, seen.crossing, enough)
	if load.capacity > 1 {
		require.Greater(t, seen.most, 1)
	}
	srv.requireNothingLeft(t, load.nodes(lock))
	srv.waitNodes(t, lock+"/locks", 0)
	srv.waitNodes(t, lock+"-too", 0)
}

// Without a lock the checker reports errors, so the test above can fail.
func TestLockCheckerObjects(t *testing.T) {
	c := newLockChecker(3)
	one, two, three := &strings.Builder{}, &strings.Builder{}, &bytes.Buffer{}
	require.Equal(t, "ok", c.judge(one, "enter Go 5 1"))
	require.Equal(t, "ok", c.judge(two, "enter Java 4 2"),
		"holders that are inside together may enter in any order")
	require.Equal(t, "Java entered with token 6 and weight 1: now there are 4 of 3 inside",
		c.judge(three, "enter Java 6 1"))
	require.Equal(t, "ok", c.judge(one, "leave"))
	require.Equal(t, "left, but was not inside", c.judge(one, "leave"))
	require.Equal(t, "Go entered with token 7 and weight 3: now there are 6 of 3 inside",
		c.judge(one, "enter Go 7 3"))
	for _, w := range []io.Writer{one, two, three} {
		require.Equal(t, "ok", c.judge(w, "leave"))
	}
	require.Equal(t, "Java entered with token 6 after one with 7", c.judge(two, "enter Java 6 1"))
	require.Equal(t, "ok", c.judge(two, "leave"))
	require.Equal(t, "Go entered with token 7 after one with 7", c.judge(one, "enter Go 7 3"))
	require.Len(t, c.mu.wrong, 5)
	require.Equal(t, 3, c.tally().most)
}

func (c goContender) cycle(path string, checker *lockChecker, weight int, d time.Duration) error {
	nc, err := net.Dial("tcp", checker.addr)
	if err != nil {
		return err
	}
	defer nc.Close()
	answers := bufio.NewScanner(nc)
	tell := func(format string, args ...any) error {
		fmt.Fprintf(nc, format, args...)
		if !answers.Scan() || answers.Text() != "ok" {
			return fmt.Errorf("lock checker: %q", answers.Text())
		}
		return nil
	}
	for start := time.Now(); time.Since(start) < d; {
		g, err := c.acquire(path, waitLimit)
		if err != nil {
			return err
		}
		err = errors.Join(tell("enter %s %d %d\n", inGo, g.token, weight), tell("leave\n"), g.release())
		if err != nil {
			return err
		}
	}
	return nil
}

func (c javaContender) cycle(path string, checker *lockChecker, weight int, d time.Duration) error {
	host, port, err := net.SplitHostPort(checker.addr)
	if err != nil {
		return err
	}
	_, err = c.peer.ask(context.Background(),
		"hold-cycle", c.name, path, host, port, d.Milliseconds(), c.kind, weight)
	return err
}
