package transport

import (
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/jute"
	"github.com/gocurator/curator/testing/zktest"
)

// owner is what a session does with a link, as far as these tests need it: it keeps watches.
type owner struct {
	link *Link

	mu     sync.Mutex
	set    map[SetWatch]bool
	events []Event
	failed []error
	creds  []Credentials
}

// withLibrary runs a test in a bubble, with a session of go-zookeeper whose connections to a server are wrapped.
func withLibrary(t *testing.T, strict bool, test func(t *testing.T, srv *zktest.Server, o *owner)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv, o := zktest.New(t), &owner{set: map[SetWatch]bool{}}
		o.link = NewLink(Config{LeaderConfirmed: strict, Watches: o.restore, Fired: o.fired, Failed: o.fail, Credentials: o.credentials})
		conn, events, err := zk.Connect([]string{srv.Addr()}, 9*time.Second, zk.WithLogger(quiet{}),
			zk.WithDialer(func(network, address string, _ time.Duration) (net.Conn, error) {
				nc, err := srv.DialTimeout(network, address, 0)
				if err != nil {
					return nil, err
				}
				return o.link.Wrap(nc, time.Now().Add(6*time.Second)), nil
			}))
		require.NoError(t, err)
		t.Cleanup(func() {
			conn.Close()
			o.link.Close()
			for range events {
			}
		})
		synctest.Wait()
		test(t, srv, o)
	})
}

func (o *owner) restore(set func([]SetWatch)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []SetWatch
	for w := range o.set {
		all = append(all, w)
	}
	set(all)
}

func (o *owner) fired(ev Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, ev)
	clear(o.set) // the tests that fire have one watch
}

func (o *owner) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = append(o.failed, err)
}

func (o *owner) failures() []error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

func (o *owner) credentials() []Credentials {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.creds
}

// watch asks for the existence of a node, with a watch.
func (o *owner) watch(t *testing.T, path string) {
	t.Helper()
	const opExists = 3
	payload := func(b []byte) []byte { return jute.AppendBool(jute.AppendString(b, path), true) }
	call, _, err := o.link.Send(opExists, payload, func(code int32, err error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.set[SetWatch{Watch{path, Data}, code != 0}] = err == nil
	})
	require.NoError(t, err)
	<-call.Done()
}

// request makes a request without a body but a path, and returns the server's code.
func (o *owner) request(t *testing.T, op int32, p string) int32 {
	t.Helper()
	call, _, err := o.link.Send(op, path(p), nil)
	require.NoError(t, err)
	<-call.Done()
	code, _, _, err := call.Answer()
	require.NoError(t, err)
	return code
}

// Requests that are sent as soon as a new connection takes them come after the watches, which come in batches.
func TestWatchesAreSetAgainBeforeAnyRequest(t *testing.T) {
	for _, n := range []int{1, 10, 3000} {
		withLibrary(t, false, func(t *testing.T, srv *zktest.Server, o *owner) {
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
				require.Equal(t, zktest.OpSetWatches, r.Op)
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
			withLibrary(t, false, func(t *testing.T, srv *zktest.Server, o *owner) {
				srv.Create("/there", nil)
				o.watch(t, map[bool]string{true: "/missing", false: "/there"}[name == "created"])
				o.request(t, opSync, "/")
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

func TestWithdrawnWatchIsForgottenByTheServer(t *testing.T) {
	withLibrary(t, false, func(t *testing.T, srv *zktest.Server, o *owner) {
		o.watch(t, "/missing")
		o.watch(t, "/")
		o.link.RemoveWatch(Watch{"/missing", Data})
		synctest.Wait()
		require.Len(t, srv.Watches(), 1)
		o.link.RemoveWatch(Watch{"/", Data})
		o.link.RemoveWatch(Watch{"/", Data}) // which the server does not have
		synctest.Wait()
		srv.AssertNoWatches(t)
	})
}

// A server that cannot set watches again, for whatever reason, must not be left with waiters who are never told.
func TestWatchesThatCannotBeSetAgainEndTheConnection(t *testing.T) {
	withLibrary(t, false, func(t *testing.T, srv *zktest.Server, o *owner) {
		o.watch(t, "/missing")
		srv.Inject(zktest.Rule{Op: zktest.OpSetWatches, Times: 1, Do: zktest.Fail(-1)})
		srv.CutAll()
		time.Sleep(10 * time.Second)
		require.Equal(t, 2, srv.CountRequests(zktest.OpSetWatches))
		require.Len(t, srv.Watches(), 1)
	})
}

func TestEveryConnectionIsAuthenticatedBeforeAnythingElse(t *testing.T) {
	withLibrary(t, false, func(t *testing.T, srv *zktest.Server, o *owner) {
		o.watch(t, "/missing")
		o.mu.Lock()
		o.creds = []Credentials{{"digest", []byte("u:p")}, {"digest", []byte("v:q")}}
		o.mu.Unlock()
		for range 2 {
			srv.ClearRequests()
			srv.CutAll()
			time.Sleep(3 * time.Second)
			var ops []zktest.Op
			for _, r := range srv.Requests() {
				ops = append(ops, r.Op)
			}
			require.Equal(t, []zktest.Op{zktest.OpConnect, zktest.OpAuth, zktest.OpAuth, zktest.OpSetWatches}, ops[:4])
		}
		require.Empty(t, o.failures())
	})
}

func TestRefusedCredentialsAreToldAndTheConnectionIsTriedAgain(t *testing.T) {
	withLibrary(t, false, func(t *testing.T, srv *zktest.Server, o *owner) {
		o.mu.Lock()
		o.creds = []Credentials{{"nonsense", nil}}
		o.mu.Unlock()
		srv.CutAll()
		time.Sleep(5 * time.Second)
		var refused *AuthError
		require.ErrorAs(t, o.failures()[0], &refused)
		require.Equal(t, "nonsense", refused.Scheme)
		_, err := send(o.link, "/")
		require.ErrorIs(t, err, ErrNotSent, "nothing passes without authentication")

		o.mu.Lock()
		o.creds = nil
		o.mu.Unlock()
		time.Sleep(5 * time.Second)
		o.request(t, opSync, "/")
	})
}

// A connection that dies during authentication wedges the library for good, if that is left to it.
func TestConnectionThatDiesDuringAuthenticationIsReplaced(t *testing.T) {
	withLibrary(t, false, func(t *testing.T, srv *zktest.Server, o *owner) {
		o.mu.Lock()
		o.creds = []Credentials{{"digest", []byte("u:p")}}
		o.mu.Unlock()
		for _, fault := range []zktest.Action{zktest.DropRequest, zktest.DropReply, zktest.Mute} {
			srv.Inject(zktest.Rule{Op: zktest.OpAuth, Times: 1, Do: fault})
			srv.CutAll()
			time.Sleep(15 * time.Second)
			o.request(t, opSync, "/")
		}
	})
}

func TestStrictContactNeedsAMajority(t *testing.T) {
	// A follower that is cut off from its leader does not answer syncs, nor
	// what comes after them. A leader that is cut off from its followers does
	// not answer transactions.
	for _, op := range []zktest.Op{zktest.OpSync, zktest.OpMulti} {
		withLibrary(t, true, func(t *testing.T, srv *zktest.Server, o *owner) {
			begin := time.Now()
			for range 60 { // contact is never older than half the timeout
				time.Sleep(time.Second)
				sent, timeout := o.link.LastContact()
				require.LessOrEqual(t, time.Since(sent), timeout/2)
			}
			srv.Inject(zktest.Rule{Op: op, Times: -1, Do: zktest.DelayRequest(time.Hour)})
			cut := time.Now()
			time.Sleep(5 * time.Second)
			sent, _ := o.link.LastContact()
			require.False(t, sent.After(cut), "%v after the cut", sent.Sub(cut))
			require.True(t, sent.After(begin))
		})
	}
}

// The time of the contact is that of the sending, as the server may have been
// slow with the answer and not with what it has counted from.
func TestStrictContactIsTheSendingOfATransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout, slow = 8 * time.Second, 100 * time.Millisecond
		l := NewLink(Config{LeaderConfirmed: true})
		begin := time.Now()
		c, p := established(t, l, 0, timeout)
		c.SetReadDeadline(time.Time{}) // the handshake is over
		readInBackground(c)
		var sent []time.Duration
		for range 30 {
			frame := p.read()
			if binary.BigEndian.Uint32(frame[4:]) == opSync {
				p.write(answerFrame(xidOf(frame), 1, 0, "/"))
				continue
			}
			sent = append(sent, time.Since(begin))
			time.Sleep(slow)
			p.write(answerFrame(xidOf(frame), 2, 0, opCheck, false, 0, -1, true, -1))
			synctest.Wait()
			contact := contactAfter(l, begin)
			require.Contains(t, sent, contact)
			require.LessOrEqual(t, time.Since(begin)-contact, timeout/2+3*slow)
		}
	})
}

// A transaction that fails is committed like any other. One of a session that
// is over confirms nothing.
func TestWhatAMajorityHasCommitted(t *testing.T) {
	failed := func(code int) []byte { return frame(-1, false, code, code, -1, true, -1)[lengthSize:] }
	require.True(t, isCommitted(frame(opCheck, false, 0, -1, true, -1)[lengthSize:]))
	require.True(t, isCommitted(failed(-102)), "no right to read")
	require.False(t, isCommitted(failed(-112)), "session expired")
	require.False(t, isCommitted(failed(-118)), "session moved")
	require.False(t, isCommitted(frame(opCheck)[lengthSize:]))
	require.False(t, isCommitted(nil))
}

// A deposed leader takes up a session of its time without asking anybody.
func TestStrictContactIsNotConfirmedByTakingUpASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{LeaderConfirmed: true})
		begin := time.Now()
		old, p := established(t, l, 0, 9*time.Second) // a new session is a transaction
		require.Zero(t, contactAfter(l, begin))
		require.Equal(t, []int32{opSync}, p.readOps(1))
		old.Close()
		time.Sleep(time.Second)
		c, p := established(t, l, 7, 9*time.Second)
		readInBackground(c)
		p.answerNext()
		require.Zero(t, contactAfter(l, begin))
		multi := p.read()
		require.EqualValues(t, opMulti, binary.BigEndian.Uint32(multi[4:]))
		p.write(answerFrame(xidOf(multi), 2, 0, opCheck, false, 0, -1, true, -1))
		synctest.Wait()
		require.Equal(t, time.Second, contactAfter(l, begin), "the handshake")
	})
}
