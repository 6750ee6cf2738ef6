package zktest

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// A busy server counts on among creates that are under way together, and no further:
// see TestRealServerCountsOnAmongCreatesUnderWay.
func TestSequenceCountsOnAmongRequestsThatComeTogether(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.NoError(t, srv.Create("/p", nil))
		require.NoError(t, srv.SetSequence("/p", math.MaxInt32-1))
		failing := []any{OpCreate, "/p/x-", []byte(nil), openACL, 2, OpCheck, "/missing", 0, opError}
		e := &encoder{}
		for i, op := range []Op{OpCreate, OpCreate, OpGetData, OpCreate, OpMulti, OpCreate} {
			f := &encoder{b: make([]byte, lengthSize)}
			f.int32(int32(i))
			f.int32(int32(op))
			switch op {
			case OpCreate:
				f.values(fmt.Sprintf("/p/%d-", i), []byte(nil), openACL, 2)
			case OpGetData:
				f.values("/p", false)
			case OpMulti:
				f.values(failing...)
			}
			e.b = append(e.b, f.frame()...)
		}
		c.write(e.b)
		var names []string
		for range 6 {
			if r := c.receive(); r.xid != 2 && r.xid != 4 {
				names = append(names, r.body.string())
			}
		}
		names = append(names, c.create("/p/6-", 2).body.string())
		require.Equal(t, []string{
			"/p/0-2147483646", "/p/1-2147483647", "/p/3--2147483648", "/p/5--2147483647", "/p/6-2147483647",
		}, names)
	})
}
