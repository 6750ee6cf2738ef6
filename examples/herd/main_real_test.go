//go:build real

package main

import (
	"errors"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
)

func designOf(c cost) design {
	return designs[slices.IndexFunc(designs, func(d design) bool { return d.name == c.design })]
}

// sameCost compares costs without bytes. On a busy machine an InterProcessMutex
// may have been held for a second, so it may have one more of each.
func sameCost(want, got cost) bool {
	got = withoutBytes([]cost{got})[0]
	if want.design != designs[2].name {
		return got == want
	}
	more := got.release.sub(want.release).add(got.arrival.sub(want.arrival))
	least := min(more.woken, more.events, more.requests)
	most := max(more.woken, more.events, more.requests)
	return least >= 0 && most <= 1
}

// A real server shows the same counts, and nothing is left on it. The program
// takes the server to be idle when it has been silent for a while. The server
// or the test itself may also have been paused during that time. Such a pause
// spoils one measurement, but a bug spoils all of them.
func TestRealServer(t *testing.T) {
	t.Parallel()
	srv := zkserver.Start(t)
	cfg, err := parse([]string{"-releases", "2", "-servers", srv.Addr()}, t.Output())
	require.NoError(t, err)
	for _, want := range expectedCosts(2, 20) {
		for tries := 5; ; tries-- {
			got, err := measure(t.Context(), cfg, designOf(want), want.waiters)
			require.NoError(t, err)
			if sameCost(want, got) {
				break
			}
			t.Log(got)
			require.Greater(t, tries, 1, "%v", want)
		}
	}
	client, err := framework.New(srv.Addr())
	require.NoError(t, err)
	defer client.Close()
	left, _, err := client.Children(t.Context(), "/herd")
	// The server has already removed the container. It looks for empty
	// containers once a minute.
	if !errors.Is(err, zk.ErrNoNode) {
		require.NoError(t, err)
	}
	require.Empty(t, left)
}
