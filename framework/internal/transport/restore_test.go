package transport

import (
	"encoding/binary"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
)

// A new connection sets all persistent watches again, one request for each, and
// no more at a time than other requests. What is asked for meanwhile follows
// them: a watch that is removed while its request waits is set and removed.
func TestPersistentWatchesAreSetAgainWithinTheLimit(t *testing.T) {
	const more = 3 // than may be under way
	synctest.Test(t, func(t *testing.T) {
		var all []*PersistentWatch
		set := 0
		for i := range maxCalls + more {
			path := fmt.Sprint("/", i)
			all = append(all, &PersistentWatch{Path: path, Then: func(code int32, err error) {
				require.NoError(t, err)
				set++
			}})
		}
		l := NewLink(Config{Watches: func(set func([]SetWatch, []*PersistentWatch)) { set(nil, all) }})
		c, p := established(t, l, 7, 9*time.Second)
		readInBackground(c)
		l.RemoveWatches(all[len(all)-1].Path)
		call, waiter, err := l.Send(proto.OpSync, path("/a"), nil)
		require.NoError(t, err)
		require.Nil(t, call)
		synctest.Wait()
		require.Len(t, p.arrived, maxCalls)

		var ops []int32
		for range maxCalls + more + 2 {
			frame := p.read()
			ops = append(ops, opOf(frame))
			p.write(answerFrame(xidOf(frame), 1, 0, ""))
			synctest.Wait()
			require.LessOrEqual(t, len(p.arrived), maxCalls)
		}
		require.Equal(t, []int32{proto.OpAddWatch, proto.OpRemoveWatches, proto.OpSync}, ops[len(ops)-3:])
		require.NotContains(t, ops[:len(ops)-2], proto.OpRemoveWatches)
		require.Equal(t, len(all), set)
		<-waiter.Done()
	})
}

// Watches that wait for room are not told that the connection has ended: the
// next one sets them.
func TestPersistentWatchesThatWaitAreLeftToTheNextConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, c, _, _ := filled(t, 0)
		l.AddWatch(&PersistentWatch{Path: "/n", Then: func(int32, error) { t.Error("the request was not sent") }})
		c.Close()
		synctest.Wait()
	})
}

func opOf(frame []byte) int32 { return int32(binary.BigEndian.Uint32(frame[4:])) }
