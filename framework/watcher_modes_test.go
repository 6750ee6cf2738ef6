package framework_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// A standard watch takes the place of a persistent one on servers before 3.9,
// and the persistent one is gone with the first event (ZOOKEEPER-4466).
//
// Promise: A standard watch does not replace the persistent watch at its path.
func TestStandardWatchLeavesThePersistentOneAlone(t *testing.T) {
	for kind := range watchKinds(nil) {
		t.Run(kind, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				w := mustWatch(t, c, "/n")
				one, err := watchKinds(c)[kind](t.Context(), "/n")
				require.NoError(t, err)
				require.NoError(t, srv.Set("/n", nil))
				require.NoError(t, srv.Create("/n/c", nil))
				require.NoError(t, srv.Set("/n", nil))
				require.NoError(t, srv.Delete("/n/c"))
				require.Equal(t, []string{"changed /n", "children /n", "changed /n", "children /n"}, unread(t, w))
				require.True(t, fired(one))
			})
		})
	}
}

// Servers before 3.9 cannot remove a persistent watch without the standard ones
// on its path (ZOOKEEPER-4472).
func TestClosedWatcherLeavesStandardWatchesAlone(t *testing.T) {
	for kind := range watchKinds(nil) {
		for _, opts := range [][]framework.WatcherOption{nil, {framework.WithRecursion()}} {
			for _, cut := range []bool{false, true} {
				t.Run(kind, func(t *testing.T) {
					eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
						require.NoError(t, srv.Create("/n", nil))
						w := mustWatch(t, c, "/n", opts...)
						one, err := watchKinds(c)[kind](t.Context(), "/n")
						require.NoError(t, err)
						if cut {
							srv.CutAll()
							time.Sleep(3 * time.Second)
						}
						w.Close()
						synctest.Wait()
						require.False(t, fired(one))
						if kind == "children" {
							require.NoError(t, srv.Create("/n/c", nil))
						} else {
							require.NoError(t, srv.Set("/n", nil))
						}
						require.True(t, fired(one))
						ev, err := one.Event()
						require.NoError(t, err)
						require.Equal(t, "/n", ev.Path)
						require.Equal(t, kind == "children", ev.Type == zk.EventNodeChildrenChanged)
						synctest.Wait()
						require.Empty(t, srv.Watches())
					})
				})
			}
		}
	}
}

// The events of changed children that a standard watch gets are no events of a
// recursive watch above it (ZOOKEEPER-4475).
func TestRecursiveWatcherReceivesNoChangedChildren(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, srv.Create("/n", nil))
		tree, below := mustWatch(t, c, "/", framework.WithRecursion()), mustWatch(t, c, "/n")
		_, _, one, err := c.ChildrenW(t.Context(), "/n")
		require.NoError(t, err)
		require.NoError(t, srv.Create("/n/c", nil))
		require.Equal(t, []string{"created /n/c"}, unread(t, tree))
		require.Equal(t, []string{"children /n"}, unread(t, below))
		require.True(t, fired(one))
	})
}

// A path has one of the two persistent modes, and both kinds of readers hear
// what they asked for, once.
func TestBothKindsOfReadersOfOnePath(t *testing.T) {
	for name, order := range map[string][]bool{"node first": {false, true}, "tree first": {true, false}} {
		t.Run(name, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				byKind := map[bool]*framework.Watcher{}
				for _, recursive := range order {
					if recursive {
						byKind[true] = mustWatch(t, c, "/n", framework.WithRecursion())
					} else {
						byKind[false] = mustWatch(t, c, "/n")
					}
				}
				for range 2 {
					changeEverything(t, srv)
					require.Equal(t, toldOfNode, unread(t, byKind[false]))
					require.Equal(t, toldOfTree, unread(t, byKind[true]))
				}
				byKind[true].Close()
				changeEverything(t, srv)
				require.Equal(t, toldOfNode, unread(t, byKind[false]))
				byKind[false].Close()
				synctest.Wait()
				require.Empty(t, srv.Watches())
			})
		})
	}
}

// The read that sets a standard watch is on its way when the persistent one is
// asked for. If they changed places, the persistent one would be lost.
func TestPersistentWatchIsSetBehindStandardOnesOnTheirWay(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, srv.Create("/n", nil))
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.DelayReply(time.Second)})
		go c.GetW(t.Context(), "/n")
		synctest.Wait()
		w := mustWatch(t, c, "/n")
		for range 3 {
			require.NoError(t, srv.Set("/n", nil))
		}
		require.Equal(t, []string{"changed /n", "changed /n", "changed /n"}, unread(t, w))
	})
}

// A client uses all kinds of watches on a few paths at random, and its connection fails
// at random. Each Watcher receives the last change or a reset, and nothing is left
// behind.
func TestRandomUseOfAllKindsOfWatchesOnAFewPaths(t *testing.T) {
	for seed := range uint64(thorough.Size(150, 30)) {
		eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			randomUse(t, srv, c, rand.New(rand.NewPCG(seed, 7)))
		})
	}
}

func randomUse(t *testing.T, srv *zktest.Server, c *framework.Client, dice *rand.Rand) {
	paths := []string{"/a", "/a/b", "/c"}
	for _, p := range paths {
		require.NoError(t, srv.Create(p, nil))
	}
	var open []*framework.Watcher
	var once []*framework.Watch
	cut := false
	for range 60 {
		path := paths[dice.IntN(len(paths))]
		switch dice.IntN(9) {
		case 0, 1:
			open = append(open, mustWatch(t, c, path))
		case 2:
			open = append(open, mustWatch(t, c, path, framework.WithRecursion()))
		case 3, 4:
			kind := []string{"data", "exists", "children"}[dice.IntN(3)]
			if w, err := watchKinds(c)[kind](within(t, 20*time.Second), path); err == nil {
				once = append(once, w)
			}
		case 5:
			if n := len(once); n > 0 {
				once[n-1].Stop()
				once = once[:n-1]
			}
		case 6:
			if n := len(open); n > 0 {
				i := dice.IntN(n)
				open[i].Close()
				open = append(open[:i], open[i+1:]...)
			}
		case 7:
			require.NoError(t, srv.Set(path, nil))
		case 8:
			if cut = dice.IntN(3) == 0; cut {
				srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Times: 1 + dice.IntN(5), Do: zktest.Fail(zkinside.ErrThrottled)})
				srv.CutAll()
			}
		}
	}
	time.Sleep(10 * time.Second)
	for _, w := range open {
		unread(t, w)
	}
	for _, p := range paths {
		require.NoError(t, srv.Set(p, nil))
	}
	for _, w := range open {
		require.NotEmpty(t, unread(t, w))
		w.Close()
	}
	for _, w := range once {
		w.Stop()
	}
	synctest.Wait()
	require.Empty(t, srv.Watches())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.NewWatcher(ctx, "/a")
	require.ErrorIs(t, err, context.Canceled)
}

// A server may have too much to do for the persistent watch of another caller,
// for as long as it likes. A read with a watch does not wait for that.
func TestReadDoesNotWaitForAPersistentWatchThatIsThrottled(t *testing.T) {
	for kind := range watchKinds(nil) {
		t.Run(kind, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				throttled := srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Times: -1, Do: zktest.Fail(zkinside.ErrThrottled)})
				opened := make(chan *framework.Watcher, 1)
				go func() {
					w, err := c.NewWatcher(t.Context(), "/n")
					if err != nil {
						t.Error(err)
					}
					opened <- w
				}()
				for range 3 { // beside pauses and requests
					begin := time.Now()
					w, err := watchKinds(c)[kind](within(t, time.Minute), "/n")
					require.NoError(t, err)
					require.Zero(t, time.Since(begin))
					w.Stop()
					time.Sleep(73 * time.Millisecond)
				}
				standard, err := watchKinds(c)[kind](t.Context(), "/n")
				require.NoError(t, err)

				throttled.Remove()
				w := <-opened
				require.NoError(t, srv.Create("/n/c", nil))
				require.NoError(t, srv.Set("/n", nil))
				require.True(t, fired(standard))
				require.NoError(t, srv.Set("/n", nil))
				require.Equal(t, []string{"children /n", "changed /n", "changed /n"}, unread(t, w))
				w.Close()
				synctest.Wait()
				require.Empty(t, srv.Watches())
			})
		})
	}
}

// The request for the persistent watch may be under way when a read comes. A
// watch of the read's own would take its place, on servers before 3.9.
//
// Promise: A read with a watch waits until the persistent watch at its path is confirmed.
func TestReadWaitsForTheAnswerAboutAPersistentWatch(t *testing.T) {
	for _, code := range []zktest.Code{0, zkinside.ErrThrottled} {
		t.Run(fmt.Sprint(code), func(t *testing.T) { eachVersion(t, readBesideAddWatch(code)) })
	}
}

// readBesideAddWatch reads while a persistent watch is asked for. The first answer
// about that has this code.
func readBesideAddWatch(code zktest.Code) func(t *testing.T, srv *zktest.Server, c *framework.Client) {
	return func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, srv.Create("/n", nil))
		srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Do: zktest.DelayReply(time.Second)})
		if code != 0 {
			srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Do: zktest.Fail(code)})
		}
		opened := make(chan *framework.Watcher, 1)
		go func() {
			w, err := c.NewWatcher(t.Context(), "/n")
			if err != nil {
				t.Error(err)
			}
			opened <- w
		}()
		synctest.Wait()
		begin := time.Now()
		_, _, standard, err := c.GetW(t.Context(), "/n")
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(begin), "and not for the pause")
		w := <-opened
		require.NoError(t, srv.Set("/n", nil))
		require.True(t, fired(standard))
		require.NoError(t, srv.Set("/n", nil))
		require.Equal(t, []string{"changed /n", "changed /n"}, unread(t, w))
	}
}

// A read that sets a standard watch waits for room on the connection, and a
// persistent watch does not. It must not come first.
func TestPersistentWatchDoesNotOvertakeAReadThatWaitsForRoom(t *testing.T) {
	for name, cut := range map[string]bool{"and gets it": false, "on a connection that breaks": true} {
		t.Run(name, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				wait := crowdConnection(t.Context(), c, srv, time.Second)
				go c.GetW(t.Context(), "/n")
				synctest.Wait()
				opened := make(chan *framework.Watcher, 1)
				go func() {
					w, err := c.NewWatcher(t.Context(), "/n")
					if err != nil {
						t.Error(err)
					}
					opened <- w
				}()
				synctest.Wait()
				if cut {
					srv.CutAll()
				}
				wait()
				w := <-opened
				time.Sleep(10 * time.Second)
				unread(t, w)
				for range 3 {
					require.NoError(t, srv.Set("/n", nil))
				}
				require.Equal(t, []string{"changed /n", "changed /n", "changed /n"}, unread(t, w))
			})
		})
	}
}
