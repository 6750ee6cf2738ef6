package transport

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// A request may be sent as soon as a new connection takes it. It still comes
// after the watches, which are set in several requests.
//
// Promise: After a reconnect, watches are set again before any other request is sent.
func TestWatchesAreSetAgainBeforeAnyRequest(t *testing.T) {
	for _, n := range []int{1, 10, 3000} {
		withLibrary(t, false, func(t *testing.T, srv *zktest.Server, o *sessionOwner) {
			for i := range n {
				o.watch(t, fmt.Sprintf("/%s-%d", strings.Repeat("x", 150), i))
			}
			srv.ClearRequests()
			srv.CutAll()
			synctest.Wait()
			for {
				if _, err := send(o.link, "/"); err == nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
			synctest.Wait()
			requests := srv.Requests()
			for _, r := range requests[1 : len(requests)-1] {
				require.Equal(t, zktest.Op(zkinside.OpSetWatches), r.Op)
			}
			require.Equal(t, zktest.OpConnect, requests[0].Op)
			require.Equal(t, zktest.OpSync, requests[len(requests)-1].Op)
			if n == 3000 {
				require.Greater(t, len(requests), 5)
			}
			require.Len(t, srv.Watches(), n)
		})
	}
}

func TestChangeDuringAnOutageIsToldBeforeItCanBeRead(t *testing.T) {
	for name, change := range map[string]func(srv *zktest.Server){
		"created": func(srv *zktest.Server) { srv.Create("/missing", nil) },
		"changed": func(srv *zktest.Server) { srv.Set("/there", []byte("x")) },
		"deleted": func(srv *zktest.Server) { srv.Delete("/there") },
	} {
		t.Run(name, func(t *testing.T) {
			withLibrary(t, false, func(t *testing.T, srv *zktest.Server, o *sessionOwner) {
				srv.Create("/there", nil)
				o.watch(t, map[bool]string{true: "/missing", false: "/there"}[name == "created"])
				o.request(t, proto.OpSync, "/")
				srv.RefuseConnections(true)
				srv.CutAll()
				synctest.Wait()
				change(srv)
				srv.RefuseConnections(false)
				for {
					if call, err := send(o.link, "/"); err == nil {
						<-call.Done()
						break
					}
					time.Sleep(time.Millisecond)
				}
				require.Len(t, o.events, 1)
			})
		})
	}
}

// The owner goes upwards from the path of an event, to the root.
func TestEventsThatAreAboutNoNodeAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var paths []string
		c, p := established(t, NewLink(Config{Fired: func(ev Event) { paths = append(paths, ev.Path) }}), 7, 9*time.Second)
		readInBackground(c)
		for _, path := range []string{"", "n", "n/c", "/", "//", "/n"} {
			p.write(answerFrame(proto.XidNotification, -1, 0, 3, 3, path))
		}
		synctest.Wait()
		require.Equal(t, []string{"/", "//", "/n"}, paths)
	})
}

func TestWithdrawnWatchIsForgottenByTheServer(t *testing.T) {
	withLibrary(t, false, func(t *testing.T, srv *zktest.Server, o *sessionOwner) {
		o.watch(t, "/missing")
		o.watch(t, "/")
		o.link.RemoveWatch(Watch{"/missing", Data})
		synctest.Wait()
		require.Len(t, srv.Watches(), 1)
		o.link.RemoveWatch(Watch{"/", Data})
		o.link.RemoveWatch(Watch{"/", Data}) // which the server does not have
		synctest.Wait()
		require.Empty(t, srv.Watches())
	})
}

// If a server cannot set watches again, for whatever reason, or the connection ends
// before it has, their owner is told. Otherwise a user of those watches would wait for
// ever.
func TestWatchesThatAreNotSetAgainAreTold(t *testing.T) {
	for _, do := range []zktest.Action{zktest.Fail(-1), zktest.DropRequest()} {
		withLibrary(t, false, func(t *testing.T, srv *zktest.Server, o *sessionOwner) {
			o.watch(t, "/missing")
			srv.Inject(zktest.Rule{Op: zkinside.OpSetWatches, Do: do})
			srv.CutAll()
			time.Sleep(10 * time.Second)
			require.EqualValues(t, 1, o.notSet.Load())
		})
	}
}
