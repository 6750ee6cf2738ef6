package zktest

import (
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// everyFaultRate takes the Session of the server or the ensemble, which need
// not be there yet.
func everyFaultRate(session func(int64) *Session) []Rule {
	return []Rule{
		{Chance: 0.02, Do: DropRequest()},
		{Chance: 0.02, Op: wire.OpCreate, Path: "/a*", Do: DropReply()},
		{Chance: 0.05, Op: wire.OpConnect, Do: Blackhole()},
		{Chance: 0.1, Op: wire.OpGetChildren, Do: DelayReply(20 * time.Millisecond)},
		{Chance: 0.1, Op: wire.OpExists, After: 10, Times: 3, Do: Fail(wire.ErrSystem)},
		{Chance: 0.04, Op: wire.OpDelete, Do: Call(func(r Request) { session(r.Session).Blackhole() })},
	}
}

var everyDisruption = []Disruption{
	{Kind: "expire"}, {Kind: "cut"}, {Kind: "replace"}, {Kind: "reap"}, {Kind: "stop", For: time.Second}, {Kind: "pause", For: time.Second},
	{Kind: "blackhole", For: time.Second}, {Kind: "refuse", For: time.Second}, {Kind: "pause_session", For: time.Second},
	{Kind: "nothing", Do: func(r *rand.Rand) { r.IntN(2) }},
}

var everyEnsembleDisruption = append([]Disruption{{Kind: "resign"}, {Kind: "lag", Lag: time.Second, For: time.Second}, {Kind: "partition", For: 2 * time.Second}}, everyDisruption...)

// record is what there is to see of a simulation.
type record struct {
	Requests  []Request
	Events    []event
	Tree      []Node
	StoppedAt int // requests when it ended
}

// world is a server or an ensemble.
type world interface {
	events() []event
	Close() error
}

// found starts a world and returns its servers.
func found(t *testing.T, seed uint64, members int) (world, []*Server) {
	var session func(int64) *Session
	faults := everyFaultRate(func(id int64) *Session { return session(id) })
	r := ChaosPlan{Seed: seed, Faults: faults, Every: 300 * time.Millisecond, Disruptions: everyDisruption}
	if members == 1 {
		srv := Start(t, WithChaos(r))
		session = srv.Session
		return srv, []*Server{srv}
	}
	r.Disruptions = everyEnsembleDisruption
	ens := StartEnsemble(t, members, WithChaos(r))
	session = ens.Session
	return ens, ens.servers()
}

// simulated lets a few clients wander about for half a minute, and then in
// peace.
func simulated(t *testing.T, seed uint64, members int) (r record) {
	synctest.Test(t, func(t *testing.T) {
		w, servers := found(t, seed, members)
		requests := func() []Request { return zkinside.Of(servers[0]).AllRequests().([]Request) }
		over := make(chan struct{})
		var wg sync.WaitGroup
		for i := range 5 {
			time.Sleep(time.Millisecond) // one after the other
			wg.Go(func() { wander(t, servers[i%members], rand.New(rand.NewPCG(seed, uint64(i))), over) })
		}
		time.Sleep(30 * time.Second)
		servers[0].StopFaults()
		r.StoppedAt = len(requests())
		time.Sleep(10 * time.Second)
		synctest.Wait()
		r.Requests, r.Events, r.Tree = requests(), w.events(), servers[0].Tree()
		close(over)
		require.NoError(t, w.Close())
		wg.Wait()
	})
	return r
}

func TestSameSeedSameRun(t *testing.T) {
	seed := SeedOf(t)
	for _, members := range []int{1, 3} {
		first, second := simulated(t, seed, members), simulated(t, seed, members)
		for i := range min(len(first.Requests), len(second.Requests)) {
			require.Equal(t, first.Requests[i], second.Requests[i], "request %d, with %d members", i, members)
		}
		require.Equal(t, first, second)
		require.Greater(t, len(first.Events), 50)
		require.Greater(t, len(first.Requests), first.StoppedAt+20, "after the storm they work")
		require.NotEqual(t, first.Requests, simulated(t, seed+1, members).Requests)
	}
}

// wander is a client that makes requests and does not give up.
func wander(t *testing.T, srv *Server, r *rand.Rand, over <-chan struct{}) {
	var session int64
	var secret []byte
	for {
		select {
		case <-over:
			return
		case <-time.After(100*time.Millisecond + time.Duration(r.IntN(1_000_000))):
		}
		nc, err := srv.Dialer()(t.Context(), "tcp", srv.Addr())
		if err != nil {
			continue
		}
		c := &wanderer{nc: nc}
		if session, secret = c.greet(session, secret); session != 0 {
			for c.err == nil {
				c.ask(r)
				time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
			}
		}
		nc.Close()
	}
}

// wanderer is a connection that remembers its first error instead of failing
// the test.
type wanderer struct {
	nc  net.Conn
	err error
}

func (c *wanderer) greet(session int64, secret []byte) (int64, []byte) {
	e := &wire.Encoder{Buf: make([]byte, wire.LengthSize)}
	encodeValues(e, 0, int64(0), 2000, session, secret)
	d := c.roundTrip(e.Frame())
	d.Int64()
	session, secret = d.Int64(), d.Buffer()
	if c.err != nil {
		return 0, nil
	}
	return session, secret
}

func (c *wanderer) ask(r *rand.Rand) {
	paths := []string{"/a", "/a/b", "/a/c", "/d", "/d/e"}
	path := paths[r.IntN(len(paths))]
	e := &wire.Encoder{Buf: make([]byte, wire.LengthSize)}
	e.Int32(1)
	switch r.IntN(7) {
	case 0, 1:
		encodeValues(e, int(wire.OpCreate), path, []byte("x"), datatree.OpenACL, r.IntN(4))
	case 2:
		encodeValues(e, int(wire.OpCreateContainer), path, []byte("x"), datatree.OpenACL, 4)
	case 3:
		encodeValues(e, int(wire.OpDelete), path, -1)
	case 4:
		encodeValues(e, int(wire.OpGetChildren), path, true)
	case 5:
		encodeValues(e, int(wire.OpExists), path, true)
	case 6:
		encodeValues(e, int(wire.OpAddWatch), path, r.IntN(2))
	}
	c.roundTrip(e.Frame())
}

// roundTrip returns the next frame, be it the answer or an event.
func (c *wanderer) roundTrip(frame []byte) *wire.Decoder {
	if _, c.err = c.nc.Write(frame); c.err != nil {
		return &wire.Decoder{}
	}
	_ = c.nc.SetReadDeadline(time.Now().Add(3 * time.Second))
	var answer []byte
	answer, c.err = wire.ReadFrame(c.nc)
	return &wire.Decoder{Buf: answer}
}
