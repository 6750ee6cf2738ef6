package interop_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes"
)

var stress = flag.Duration("stress", 12*time.Second, "how long the languages compete for a lock, on each server")

// Contenders of both languages, each several on a connection, go through the lock as often as they can. The register, which
// knows nothing of ZooKeeper, sees no two inside at once, and only tokens that grow.
func TestLanguagesExcludeEachOther(t *testing.T) {
	inBothWorlds(t, func(t *testing.T, w *world) {
		lock, register := lockPath(t), openRegister(t)
		host, port, err := net.SplitHostPort(register.addr())
		require.NoError(t, err)
		var contenders []func() error
		for range 2 {
			java, client := startPeer(t, w.addr, longSession), w.connect(t, longSession)
			for i := range 3 {
				contenders = append(contenders, func() error {
					_, err := java.ask(context.Background(), "hold-cycle", i, lock, host, port, stress.Milliseconds())
					return err
				}, func() error {
					return holdCycle(client, lock, register.addr(), *stress)
				})
			}
		}
		ended := make(chan error, len(contenders))
		for _, run := range contenders {
			go func() { ended <- run() }()
		}
		for range contenders {
			require.NoError(t, <-ended)
		}

		seen := register.tally()
		t.Logf("cycles: %d in Go, %d in Java; the lock went from one language to the other %d times",
			seen.entered[inGo], seen.entered[inJava], seen.crossing)
		require.Greater(t, seen.entered[inGo], 100)
		require.Greater(t, seen.entered[inJava], 100)
		require.Greater(t, seen.crossing, 100)
		w.nothingLeft(t, lock)
	})
}

// Without a lock the register objects: the test above can fail.
func TestRegisterObjects(t *testing.T) {
	r := &register{}
	r.mu.stats.entered = map[language]int{}
	one, two := &strings.Builder{}, &strings.Builder{}
	require.Equal(t, "ok", r.judge(one, "enter Go 5"))
	require.Equal(t, "Java entered with token 6 while Go was inside with 5", r.judge(two, "enter Java 6"))
	require.Equal(t, "left, but was not inside", r.judge(one, "leave"))
	require.Equal(t, "Go entered with token 6 after Java with 6", r.judge(one, "enter Go 6"))
	require.Len(t, r.mu.wrong, 3)
}

// holdCycle is what Java's command of this name does.
func holdCycle(client *framework.Client, lock, register string, d time.Duration) error {
	nc, err := net.Dial("tcp", register)
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
	ctx := context.Background()
	mutex := recipes.NewInterProcessMutex(client, lock)
	for start := time.Now(); time.Since(start) < d; {
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			return err
		}
		err = errors.Join(tell("enter %s %d\n", inGo, lease.FencingToken()), tell("leave\n"), lease.Release(ctx))
		if err != nil {
			return err
		}
	}
	return nil
}
