package zktest

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// newTestOutbox returns an outbox, and what all outboxes of its server hold.
func newTestOutbox() (*outbox, *atomic.Int64) {
	var byAll atomic.Int64
	return newOutbox(func() {}, nil, &byAll), &byAll
}

// shortWay returns what the short way sends, if the connection takes no more
// than room bytes.
func shortWay(o *outbox, room int) (sent string) {
	o.writeReady(func(p []byte) int {
		n := min(len(p), room)
		sent = string(p[:n])
		return n
	})
	return sent
}

// queued returns what is left for the writer.
func queued(o *outbox) (rest string) {
	for {
		f, _ := o.head()
		if f == nil || !o.take(f) {
			o.flushed()
			return rest
		}
		rest += string(f.bytes)
	}
}

func TestShortWayKeepsTheOrder(t *testing.T) {
	gate := make(chan struct{})
	answer := func(s string) outFrame { return outFrame{bytes: []byte(s)} }
	event := outFrame{bytes: []byte("event")}
	gated := outFrame{bytes: []byte("gated"), gate: gate}
	for name, tc := range map[string]struct {
		frames     []outFrame
		room       int
		sent, rest string
	}{
		"nothing":                {room: 99},
		"all":                    {frames: []outFrame{answer("a"), event, answer("b")}, room: 99, sent: "aeventb"},
		"up to one that waits":   {frames: []outFrame{answer("a"), gated, event, answer("b")}, room: 99, sent: "a", rest: "gatedeventb"},
		"none behind it":         {frames: []outFrame{gated, answer("b")}, room: 99, rest: "gatedb"},
		"what there is room for": {frames: []outFrame{answer("abc"), event}, room: 2, sent: "ab", rest: "cevent"},
		"no room at all":         {frames: []outFrame{answer("abc"), gated}, rest: "abcgated"},
	} {
		t.Run(name, func(t *testing.T) {
			o, byAll := newTestOutbox()
			for _, f := range tc.frames {
				o.queueFrame(f)
			}
			require.Equal(t, tc.sent, shortWay(o, tc.room))
			require.Equal(t, tc.rest == "" && len(tc.frames) > 0, o.resting, "told to those who wait until all is sent")
			require.Equal(t, tc.rest, queued(o))
			require.Zero(t, o.size)
			require.Zero(t, byAll.Load())
		})
	}
}

func TestShortWayAndWriterExcludeEachOther(t *testing.T) {
	o, _ := newTestOutbox()
	o.queueFrame(outFrame{bytes: []byte("first")})
	o.writeReady(func(p []byte) int {
		o.flushed()
		require.False(t, o.resting, "the writer does not know that all is sent")
		o.push(outFrame{bytes: []byte("event")})
		f, _ := o.head()
		require.Nil(t, f, "and waits while the reader writes")
		return len(p)
	})
	f, _ := o.head()
	require.True(t, o.take(f))
	o.queueFrame(outFrame{bytes: []byte("second")})
	require.Empty(t, shortWay(o, 99), "the writer has something that it has not flushed")
	require.Equal(t, "second", queued(o))
	require.True(t, o.resting)
}

func TestOutboxThatIsDroppedOnTheShortWay(t *testing.T) {
	o, byAll := newTestOutbox()
	o.queueFrame(outFrame{bytes: []byte("answer")})
	o.writeReady(func([]byte) int {
		o.drop()
		return 3
	})
	require.Zero(t, byAll.Load(), "the books balance")
	require.Empty(t, queued(o), "the rest is lost")
}

// A client that does not read costs a bounded amount of memory.
func TestSlowReaderIsDisconnected(t *testing.T) {
	bubble(t, func(t *testing.T, srv *Server) {
		c := login(t, srv)
		require.NoError(t, srv.Create("/big", make([]byte, 1<<20)))
		for range 100 {
			c.send(wire.OpGetData, "/big", false)
		}
		synctest.Wait()
		require.Zero(t, srv.Connections())
		require.Len(t, srv.Sessions(), 1)
	})
}
