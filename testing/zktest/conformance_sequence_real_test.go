//go:build real

package zktest

import (
	"fmt"
	"math"
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// nearTheEnd is where the sequences of these tests begin.
const nearTheEnd = math.MaxInt32 - 2

// The end of the sequence takes weeks to reach, so the real server begins near it: with
// a tree that the other scripts do not have. So these scripts have a separate server.
func TestEndOfSequenceConforms(t *testing.T) {
	scripts := map[string]func(s *stage, parent string){
		"/alone":     createToTheEnd,
		"/multi":     createInMultis,
		"/failed":    failAtTheEnd,
		"/pipelined": createAtOnce,
		"/watched":   catchUpAtTheEnd,
		"/again":     createTheParentAgain,
	}
	var parents []string
	for parent := range scripts {
		parents = append(parents, parent)
	}
	srv := startNearTheEnd(t, parents...)
	fake := newLookalike(t)
	for parent, script := range scripts {
		require.NoError(t, fake.Create(parent, []byte{}))
		t.Run(parent, func(t *testing.T) {
			c := (&stage{t: t, addr: srv.Addr()}).client()
			past := c.leave(parent)
			fake.adopt(past)
			fake.tree.Node(parent).Created = nearTheEnd
			requireSame(t, srv, fake, past.zxid, func(s *stage) { script(s, parent) })
		})
	}
}

// startNearTheEnd starts a real server with these nodes.
func startNearTheEnd(t *testing.T, parents ...string) *zkserver.Server {
	t.Helper()
	options := realServerOptions()
	for _, parent := range parents {
		options = append(options, zkserver.WithSequence(parent, nearTheEnd))
	}
	return zkserver.Start(t, options...)
}

func createToTheEnd(s *stage, parent string) {
	a := s.client()
	for i := range 8 {
		a.create2(fmt.Sprintf("%s/%d-", parent, i), wire.FlagSequence)
		a.exists(parent, false)
	}
	a.create2(parent+"/7-", wire.FlagSequence) // the name is taken
	a.exists(parent, false)
	a.delete(parent+"/7-2147483647", -1)
	a.exists(parent, false)
	a.create2(parent+"/7-", wire.FlagEphemeralSequence)
	a.create2(parent+"/plain", none)
	a.exists(parent, false)
	a.children(parent, false)
}

func createInMultis(s *stage, parent string) {
	a := s.client()
	for i := range 4 {
		a.multi(
			wire.OpCreate, fmt.Sprintf("%s/%d-a-", parent, i), []byte(nil), datatree.OpenACL, int(wire.FlagSequence),
			wire.OpCreate, parent+"/gone", []byte(nil), datatree.OpenACL, 0,
			wire.OpDelete, parent+"/gone", -1,
			wire.OpCreate, fmt.Sprintf("%s/%d-b-", parent, i), []byte(nil), datatree.OpenACL, int(wire.FlagEphemeralSequence),
			wire.OpCreate, fmt.Sprintf("%s/%d-c-", parent, i), []byte(nil), datatree.OpenACL, int(wire.FlagSequence))
		a.exists(parent, false)
	}
	a.create2(parent+"/x-", wire.FlagSequence)
	a.exists(parent, false)
	a.children(parent, false)
}

// The numbers that a failed multi has taken are forgotten.
func failAtTheEnd(s *stage, parent string) {
	a := s.client()
	for i := range 4 {
		a.multi(
			wire.OpCreate, fmt.Sprintf("%s/%d-a-", parent, i), []byte(nil), datatree.OpenACL, int(wire.FlagSequence),
			wire.OpCreate, fmt.Sprintf("%s/%d-b-", parent, i), []byte(nil), datatree.OpenACL, int(wire.FlagSequence),
			wire.OpCheck, "/missing", 0)
		a.exists(parent, false)
		a.create2(fmt.Sprintf("%s/%d-", parent, i), wire.FlagSequence)
		a.exists(parent, false)
	}
}

// createAtOnce does not wait for answers as long as the sequence has not come
// to its end: from there on the numbers depend on how busy a real server is.
func createAtOnce(s *stage, parent string) {
	a := s.client()
	var xids []int32
	for i := range 3 {
		xids = append(xids, a.send(wire.OpCreate2, fmt.Sprintf("%s/%d-", parent, i), []byte(nil), datatree.OpenACL, int(wire.FlagSequence)))
	}
	for _, xid := range xids {
		r, alive := a.next()
		require.True(s.t, alive)
		a.note("%s", s.tell(wire.OpCreate2, xid, r))
	}
	a.exists(parent, false)
}

// At its end the sequence stops to tell of new children: a client that was away
// does not learn of them.
func catchUpAtTheEnd(s *stage, parent string) {
	a, b := s.client(), s.client()
	for i := range 4 {
		b.do(wire.OpSync, "/")
		seen := s.last
		a.create2(fmt.Sprintf("%s/%d-", parent, i), wire.FlagSequence)
		b.do(wire.OpSetWatches, seen, []string{}, []string{}, []string{parent})
		b.do(wire.OpSync, "/")
	}
	seen := s.last
	a.delete(parent+"/0-2147483645", -1)
	b.do(wire.OpSync, "/")
	b.do(wire.OpSetWatches, seen, []string{}, []string{}, []string{parent})
	b.do(wire.OpSync, "/")
}

// A node that is created again counts from the beginning, also within one
// multi.
func createTheParentAgain(s *stage, parent string) {
	a := s.client()
	for range 3 {
		a.create2(parent+"/n-", wire.FlagSequence)
	}
	for _, n := range []string{"5", "6", "7"} {
		a.delete(parent+"/n-214748364"+n, -1)
	}
	a.multi(
		wire.OpCreate, parent+"/n-", []byte(nil), datatree.OpenACL, int(wire.FlagSequence),
		wire.OpDelete, parent+"/n-2147483647", -1,
		wire.OpDelete, parent, -1,
		wire.OpCreate, parent, []byte(nil), datatree.OpenACL, 0,
		wire.OpCreate, parent+"/n-", []byte(nil), datatree.OpenACL, int(wire.FlagSequence))
	a.exists(parent, false)
	a.children(parent, false)
}

// Creates that are under way together are numbered one after the other, beyond
// the end as well. How many of them depends on how busy a real server is; the
// model makes it all that come together.
func TestRealServerCountsOnAmongCreatesUnderWay(t *testing.T) {
	const parent, creates = "/p", 500
	srv := startNearTheEnd(t, parent)
	c := (&stage{t: t, addr: srv.Addr()}).client()
	for i := range creates {
		c.send(wire.OpCreate, fmt.Sprintf("%s/%d-", parent, i), []byte(nil), datatree.OpenACL, int(wire.FlagSequence))
	}
	beyond := 0
	for i := range creates {
		r := c.receive()
		require.Equal(t, wire.OK, r.code)
		number, isSequence := sequenceOf(path.Base(r.body.String()))
		require.True(t, isSequence)
		switch {
		case i < 2:
			require.EqualValues(t, nearTheEnd+i, number)
		case number < 0:
			beyond++
			require.Less(t, number, int32(math.MinInt32+creates))
		default:
			require.EqualValues(t, math.MaxInt32, number)
		}
	}
	t.Logf("%d of %d creates got a number beyond the end", beyond, creates)
	c.closeSession()
}
