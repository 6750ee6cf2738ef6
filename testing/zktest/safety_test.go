package zktest

import (
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// heap returns the bytes in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// hour is the timeout of sessions that send no pings, in real time.
const hour = 3_600_000

// A server that runs for long keeps nothing of the connections and sessions
// that have ended, and nor does an ensemble.
func TestConnectionsThatEndLeaveNothing(t *testing.T) {
	thorough.MuchWork(t)
	visit := func(t *testing.T, m *Member) {
		nc, err := m.Dialer()(t.Context(), "tcp", "")
		require.NoError(t, err)
		c := &raw{t: t, nc: nc} // without a Cleanup, which would keep it
		c.handshake(0, 10_000, 0, nil)
		c.create("/e", int(wire.FlagEphemeral))
		c.call(wire.OpGetData, "/e", true)
		c.call(wire.OpAddWatch, "/", 1)
		c.send(wire.OpCloseSession)
		c.readAll()
		c.nc.Close()
	}
	synctest.Test(t, func(t *testing.T) {
		ens := StartEnsemble(t, 3, zkinside.With(zkinside.Settings{RequestLog: -1}).(Option))
		visits := func() (goroutines int, bytes int64) {
			for i := range 3000 {
				visit(t, ens.Members()[i%3])
			}
			time.Sleep(time.Minute) // whatever still has to go off does
			synctest.Wait()
			return runtime.NumGoroutine(), heap()
		}
		visits()         // maps keep the room that they needed once
		var more []int64 // bytes, of several tries: the rest of the program has a heap, too
		for range 3 {
			goroutines, bytes := visits()
			goroutinesLater, bytesLater := visits()
			require.Less(t, goroutinesLater-goroutines, 10)
			more = append(more, bytesLater-bytes)
			if bytesLater-bytes < 3000*10 {
				return
			}
		}
		require.Less(t, slices.Min(more), int64(3000*10), "less than anything takes")
	})
}

// FuzzDecoder takes every kind of value off arbitrary bytes: it must never read
// beyond them, and what it has read must encode to the same bytes. Null does not,
// and neither do bytes that are no text.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte{}, []byte{0})
	f.Add([]byte{0, 0, 0, 1, 'a', 0, 0, 0, 0}, []byte{4, 5})
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 31, 0, 0, 0, 1, 'w', 0xff, 0xff, 0xff, 0xff}, []byte{6})
	f.Fuzz(func(t *testing.T, input, kinds []byte) {
		d := &wire.Decoder{Buf: input}
		for _, kind := range kinds {
			rest, e := d.Buf, &wire.Encoder{}
			exact := true
			switch kind % 7 {
			case 0:
				e.Int32(d.Int32())
			case 1:
				e.Int64(d.Int64())
			case 2:
				d.Bool()
				exact = false // any byte but 0 is true
			case 3:
				e.Buffer(d.Buffer())
			case 4:
				text := d.String()
				require.True(t, utf8.ValidString(text), "as in Java, what is no text becomes U+FFFD")
				e.String(text)
				exact = !d.Null && utf8.Valid(rest[:len(rest)-len(d.Buf)][4:])
			case 5:
				list := d.Strings()
				exact = len(list) == 0 && d.Err == nil && rest[0] == 0
				e.Strings(list)
			case 6:
				list := d.ACLs()
				require.LessOrEqual(t, len(list), len(rest)/12)
				exact = false
			}
			if d.Err != nil {
				return
			}
			require.LessOrEqual(t, len(d.Buf), len(rest))
			if exact {
				require.Equal(t, rest[:len(rest)-len(d.Buf)], e.Buf)
			}
		}
	})
}
