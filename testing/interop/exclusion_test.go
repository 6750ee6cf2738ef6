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

var stress = flag.Duration("stress", 5*time.Second, "how long the languages compete for each kind of lock, on each server")

// mix is who competes for a lock.
type mix struct {
	capacity int // of the register
	wants    map[language][]want
}

func (m mix) nodes(path string) string { return m.wants[inGo][0].kind.nodes(path) }

// want is what a contender asks for again and again, and how much of the register's capacity that is good for.
type want struct {
	kind   kind
	weight int
}

// both is a mix in which the languages want the same.
func both(capacity int, wants ...want) mix {
	return mix{capacity, map[language][]want{inGo: wants, inJava: wants}}
}

var mixes = map[string]mix{
	"mutex":      both(1, want{mutex, 1}, want{mutex, 1}, want{mutex, 1}),
	"read-write": both(100, want{reading, 1}, want{reading, 1}, want{writing, 100}),
	// With fewer leases, Java may have a part of two, in both of its processes, and ours wait for the rest.
	"semaphore":      both(4, want{leases(1, 4), 1}, want{leases(1, 4), 1}, want{leases(2, 4), 2}),
	"semaphoreMutex": both(1, want{semaphoreMutex, 1}, want{leases(1, 1), 1}),
	"multi": {1, map[language][]want{
		inGo:   {{multi, 1}, {multi, 1}, {mutex, 1}},
		inJava: {{mutex, 1}, {mutex, 1}},
	}},
}

// Contenders of both languages, each several on a connection, go through the lock as often as they can. The register, which
// knows nothing of ZooKeeper, sees no more inside at once than there may be, and only tokens that grow.
func TestLanguagesExcludeEachOther(t *testing.T) {
	for name, mix := range mixes {
		t.Run(name, func(t *testing.T) {
			inBothWorlds(t, func(t *testing.T, w *world) { w.compete(t, mix) })
		})
	}
}

func (w *world) compete(t *testing.T, mix mix) {
	lock, register := lockPath(t), openRegister(t, mix.capacity)
	var contenders []func() error
	for range 2 {
		java, client := startPeer(t, w.addr, longSession), w.connect(t, longSession)
		of := map[language]func(i int) contender{
			inGo:   func(int) contender { return goContender{client: client} },
			inJava: func(i int) contender { return javaContender{peer: java, name: fmt.Sprint(i)} },
		}
		for language, wants := range mix.wants {
			for i, want := range wants {
				c := of[language](i).as(want.kind)
				contenders = append(contenders, func() error { return c.cycle(lock, register, want.weight, *stress) })
			}
		}
	}
	const enough = 25
	seen := tally{}
	for begin := time.Now(); time.Since(begin) < 2*tooLong; { // a busy machine may need several rounds
		ended := make(chan error, len(contenders))
		for _, run := range contenders {
			go func() { ended <- run() }()
		}
		for range contenders {
			require.NoError(t, <-ended)
		}
		seen = register.tally()
		if min(seen.entered[inGo], seen.entered[inJava], seen.crossing) > enough && (mix.capacity == 1 || seen.most > 1) {
			break
		}
	}
	t.Logf("cycles: %d in Go, %d in Java; the lock went from one language to the other %d times; at most %d held it at once",
		seen.entered[inGo], seen.entered[inJava], seen.crossing, seen.most)
	require.Greater(t, seen.entered[inGo], enough)
	require.Greater(t, seen.entered[inJava], enough)
	require.Greater(t, seen.crossing, enough)
	if mix.capacity > 1 {
		require.Greater(t, seen.most, 1)
	}
	w.nothingLeft(t, mix.nodes(lock))
	w.waitNodes(t, lock+"/locks", 0)
	w.waitNodes(t, lock+"-too", 0)
}

// Without a lock the register objects: the test above can fail.
func TestRegisterObjects(t *testing.T) {
	r := newRegister(3)
	one, two, three := &strings.Builder{}, &strings.Builder{}, &bytes.Buffer{}
	require.Equal(t, "ok", r.judge(one, "enter Go 5 1"))
	require.Equal(t, "ok", r.judge(two, "enter Java 4 2"), "who are inside together may come in any order")
	require.Equal(t, "Java entered with token 6 and weight 1: now there are 4 of 3 inside", r.judge(three, "enter Java 6 1"))
	require.Equal(t, "ok", r.judge(one, "leave"))
	require.Equal(t, "left, but was not inside", r.judge(one, "leave"))
	require.Equal(t, "Go entered with token 7 and weight 3: now there are 6 of 3 inside", r.judge(one, "enter Go 7 3"))
	for _, w := range []io.Writer{one, two, three} {
		require.Equal(t, "ok", r.judge(w, "leave"))
	}
	require.Equal(t, "Java entered with token 6 after one with 7", r.judge(two, "enter Java 6 1"))
	require.Equal(t, "ok", r.judge(two, "leave"))
	require.Equal(t, "Go entered with token 7 after one with 7", r.judge(one, "enter Go 7 3"))
	require.Len(t, r.mu.wrong, 5)
	require.Equal(t, 3, r.tally().most)
}

func (c goContender) cycle(path string, r *register, weight int, d time.Duration) error {
	nc, err := net.Dial("tcp", r.addr)
	if err != nil {
		return err
	}
	defer nc.Close()
	answers := bufio.NewScanner(nc)
	tell := func(format string, args ...any) error {
		fmt.Fprintf(nc, format, args...)
		if !answers.Scan() || answers.Text() != "ok" {
			return fmt.Errorf("register: %q", answers.Text())
		}
		return nil
	}
	for start := time.Now(); time.Since(start) < d; {
		g, err := c.acquire(path, tooLong)
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

func (c javaContender) cycle(path string, r *register, weight int, d time.Duration) error {
	host, port, err := net.SplitHostPort(r.addr)
	if err != nil {
		return err
	}
	_, err = c.peer.ask(context.Background(), "hold-cycle", c.name, path, host, port, d.Milliseconds(), c.kind, weight)
	return err
}
