package leadertest

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
)

// Detour is a client of a real ensemble with a partitioned leader, and the route of
// that client: the reply to its next write is lost, then the client connects to the
// partitioned leader, and then to the other servers again.
type Detour struct {
	Client *framework.Client

	front, behind string // addresses

	mu   sync.Mutex // protects the following fields
	leg  leg
	conn net.Conn // the latest
}

// leg is a part of the route. On each leg, the client can connect only to the named
// server.
type leg int

const (
	before   leg = iota // the client is at the leader, which is not partitioned yet
	writing             // the client is at another server, which does not answer the write
	looking             // the client is at the leader, until the leader has answered a read
	returned            // the client is anywhere but at the leader
)

// lookTime is how long the leader has to answer a read. The leader does not answer a
// transaction at all.
const lookTime = 2 * time.Second

// Detours returns n clients of an ensemble that are ready to begin: the leader is cut
// off from the other servers, which have elected another. Before that, a client
// prepares what the test needs. The ensemble lasts as long as the test.
func Detours(
	t *testing.T, ctx context.Context, e *zkserver.Ensemble, chroot string, n int,
	prepare func(c *framework.Client),
) []*Detour {
	t.Helper()
	old, err := e.WaitLeader(ctx)
	require.NoError(t, err)
	var others []*zkserver.Server
	for _, s := range e.Members() {
		if s != old {
			others = append(others, s)
		}
	}
	all := make([]*Detour, n)
	for i := range all {
		d := &Detour{front: others[i%2].Addr(), behind: old.Addr()}
		d.Client, err = framework.New(e.ConnectString()+chroot,
			framework.WithDialer(d.dial), framework.WithSessionTimeout(40*time.Second))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Client.Close()) })
		require.NoError(t, d.Client.WaitConnected(ctx))
		all[i] = d
	}
	prepare(all[0].Client)

	require.NoError(t, e.Partition(old))
	t.Cleanup(func() { require.NoError(t, e.Heal()) })
	var restarts sync.WaitGroup
	for _, s := range others { // a single server is not a majority
		restarts.Go(func() {
			if err := s.Restart(); err != nil {
				t.Error(err)
			}
		})
	}
	restarts.Wait()
	awaitMajority(t, ctx, others)
	return all
}

// awaitMajority returns when servers serve.
func awaitMajority(t *testing.T, ctx context.Context, servers []*zkserver.Server) {
	t.Helper()
	for _, s := range servers {
		c, err := framework.New(s.Addr())
		require.NoError(t, err)
		require.NoError(t, c.WaitConnected(ctx))
		require.NoError(t, c.SyncQuorum(ctx))
		require.NoError(t, c.Close())
	}
}

// Begin sends the client on its way. The write should be its next request.
func (d *Detour) Begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.enterLocked(writing)
}

// Returned reports whether the client has been everywhere.
func (d *Detour) Returned() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.leg == returned
}

// enterLocked begins a leg, and ends the connection of the previous leg.
func (d *Detour) enterLocked(l leg) {
	d.leg = l
	if d.conn != nil {
		_ = d.conn.Close()
	}
}

func (d *Detour) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	leg := d.leg
	d.mu.Unlock()
	atLeader := leg == before || leg == looking
	if atLeader != (address == d.behind) || leg == writing && address != d.front {
		return nil, errors.New("the route leads elsewhere")
	}
	nc, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &detourConn{Conn: nc, on: d, leg: leg}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conn = nc
	if leg == looking {
		time.AfterFunc(lookTime, func() { d.leave(looking) })
	}
	return c, nil
}

// leave ends a leg, if it is the present one.
func (d *Detour) leave(l leg) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.leg == l {
		d.enterLocked(l + 1)
	}
}

// detourConn is a connection of one leg. It counts the frames that it delivers.
type detourConn struct {
	net.Conn
	on     *Detour
	leg    leg
	frames int
	rest   []byte // the unread part of the last frame
}

// answers is how many frames a connection delivers before the leg is over. The first
// frame answers the handshake. At the leader, two more frames answer a sync and a read.
var answers = map[leg]int{writing: 1, looking: 3}

func (c *detourConn) Read(b []byte) (int, error) {
	if len(c.rest) == 0 {
		if err := c.readFrame(); err != nil {
			return 0, err
		}
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	if c.leg == looking && len(c.rest) == 0 && c.frames == answers[looking] {
		c.on.leave(looking) // right after the answer
	}
	return n, nil
}

func (c *detourConn) readFrame() error {
	var length [4]byte
	if _, err := io.ReadFull(c.Conn, length[:]); err != nil {
		return err
	}
	frame := make([]byte, 4+binary.BigEndian.Uint32(length[:]))
	copy(frame, length[:])
	if _, err := io.ReadFull(c.Conn, frame[4:]); err != nil {
		return err
	}
	c.frames++
	if c.leg == writing && c.frames > answers[writing] { // the answer to the write
		c.on.leave(writing)
		return io.EOF
	}
	c.rest = frame
	return nil
}
