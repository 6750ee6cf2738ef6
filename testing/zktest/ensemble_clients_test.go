package zktest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// Clients write and read while members come and go, by faults and by reconfig.
// For them, this must hold:
//
//   - A write that is acknowledged stays, at every member.
//   - A write that begins after another was acknowledged has a higher zxid.
//   - No version of a node is acknowledged to two writers.
//   - Nobody goes back in time.
//   - A multi that is cut short applies nothing.
//   - When the clients are gone, so are their sessions, watches and ephemeral
//     nodes.
func TestClientsOfAnEnsembleUnderFaults(t *testing.T) {
	seed := SeedOf(t)
	for i := range uint64(thorough.Size(80, 20)) {
		t.Run(fmt.Sprint("seed ", seed+i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { clientsUnderFaults(t, seed+i) })
		})
	}
}

func clientsUnderFaults(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	ens := StartEnsemble(t, 5)
	require.NoError(t, ens.Leader().Create("/created", nil))
	require.NoError(t, ens.Leader().Create("/register", nil))

	j := &journal{writers: make(map[int32]int)}
	var wg sync.WaitGroup
	over := make(chan struct{})
	for i := range 6 {
		c := &faultyClient{
			journal: j, ens: ens, number: i + 1, over: over,
			rng: rand.New(rand.NewPCG(seed, uint64(i+1))), timeout: int32(1000 * (i%4 + 1)),
		}
		wg.Go(c.run)
	}
	disturb(ens, r)
	ens.recover()
	awaitLeader(t, ens)
	time.Sleep(5 * time.Second) // the clients go on
	close(over)
	wg.Wait()
	time.Sleep(20 * time.Second) // more than their timeouts
	synctest.Wait()

	require.Empty(t, j.wrong)
	require.NotEmpty(t, j.created)
	for _, m := range ens.Members() {
		require.Empty(t, m.Sessions())
		require.Empty(t, m.Watches())
		require.Equal(t, ens.Leader().Tree(), m.Tree())
		for _, node := range m.Tree() {
			require.Zero(t, node.Stat.EphemeralOwner, node.Path)
			require.NotEqual(t, "/never", node.Path)
		}
		for _, path := range j.created {
			_, found := m.Node(path)
			require.True(t, found, "%s was acknowledged", path)
		}
		register, _ := m.Node("/register")
		require.GreaterOrEqual(t, register.Stat.Version, j.version)
	}
}

// disturb does to the members what may happen to them, for some minutes.
func disturb(ens *Ensemble, r *rand.Rand) {
	members := ens.Members()
	anyone := func() *Member { return members[r.IntN(len(members))] }
	someone := func() *Session {
		list := members[0].Sessions()
		if len(list) == 0 {
			return ens.Session(1)
		}
		return ens.Session(list[r.IntN(len(list))].ID)
	}
	actions := []Action{DropReply(), DropRequest(), reset(), DelayRequest(time.Second), DelayReply(time.Second), BlackholeReply()}
	lags := []time.Duration{0, 100 * time.Millisecond, time.Second, forever}
	disruptions := []func(){
		func() { _ = anyone().Stop() },
		func() { _ = anyone().Restart() },
		func() { _ = anyone().Pause() },
		func() { _ = anyone().Resume() },
		func() { _ = ens.Partition(anyone()) },
		func() { _ = ens.Partition(members[r.IntN(3)], members[3]) },
		ens.Heal,
		func() { _ = anyone().Lag(lags[r.IntN(len(lags))]) },
		func() { anyone().resign() },
		func() { someone().Expire() },
		func() { someone().moveTo(anyone()) },
		func() { someone().Cut() },
		func() { someone().Blackhole() },
		func() { anyone().Heal() },
		func() { ens.Inject(Rule{Do: actions[r.IntN(len(actions))], Optional: true}) },
		ens.recover,
	}
	for range 250 {
		disruptions[r.IntN(len(disruptions))]()
		time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
	}
}

// journal is what clients were told, and what of it was wrong.
type journal struct {
	mu      sync.Mutex
	created []string
	last    int64         // the highest zxid of an acknowledged write
	version int32         // the highest acknowledged version of the register
	writers map[int32]int // clients by the version that they have written
	wrong   []string
}

func (j *journal) lastZxid() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.last
}

// wrote notes an acknowledged write, which began when before was acknowledged.
func (j *journal) wrote(zxid, before int64, note func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if zxid <= before {
		j.wrong = append(j.wrong, fmt.Sprintf("a write at %#x that began after one at %#x", zxid, before))
	}
	j.last = max(j.last, zxid)
	note()
}

func (j *journal) fail(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wrong = append(j.wrong, fmt.Sprintf(format, args...))
}

// faultyClient connects to any member, makes requests until the connection ends,
// and comes back with its session and what it has seen.
type faultyClient struct {
	*journal
	ens     *Ensemble
	number  int
	timeout int32 // milliseconds
	rng     *rand.Rand
	over    <-chan struct{}

	nc       net.Conn
	session  int64
	password []byte
	seen     int64 // zxid
	register int32 // version
	xid      int32
	nodes    int
}

func (c *faultyClient) run() {
	for c.goesOn() {
		if c.connect() {
			for c.goesOn() && c.step() {
				time.Sleep(time.Duration(c.rng.IntN(200)) * time.Millisecond)
			}
			c.nc.Close()
		}
		time.Sleep(time.Duration(50+c.rng.IntN(100)) * time.Millisecond)
	}
}

func (c *faultyClient) goesOn() bool {
	select {
	case <-c.over:
		return false
	default:
		return true
	}
}

// connect reports whether the client has its session, or a new one.
func (c *faultyClient) connect() bool {
	members := c.ens.Members()
	nc, err := members[c.rng.IntN(len(members))].dialFrom(context.Background(), nil, "tcp", "")
	if err != nil {
		return false
	}
	c.nc = nc
	e := &wire.Encoder{Buf: make([]byte, wire.LengthSize)}
	encodeValues(e, 0, c.seen, int(c.timeout), c.session, c.password)
	e.Bool(true) // a read-only member will do
	d, ok := c.exchange(e.Frame())
	if ok {
		d.Int32()
		d.Int32()
		c.session, c.password = d.Int64(), slices.Clone(d.Buffer())
	}
	if !ok || c.session == 0 {
		nc.Close()
	}
	if ok && c.session == 0 {
		c.seen, c.register = 0, 0
	}
	return ok && c.session != 0
}

// exchange writes a frame and reads one.
func (c *faultyClient) exchange(frame []byte) (*wire.Decoder, bool) {
	if frame != nil {
		if _, err := c.nc.Write(frame); err != nil {
			return nil, false
		}
	}
	_ = c.nc.SetReadDeadline(time.Now().Add(time.Duration(500+c.rng.IntN(3000)) * time.Millisecond))
	answer, err := wire.ReadFrame(c.nc)
	return &wire.Decoder{Buf: answer}, err == nil
}

// call makes a request. It reports false if the connection has ended.
func (c *faultyClient) call(op wire.Op, values ...any) (code wire.Code, zxid int64, body *wire.Decoder, ok bool) {
	c.xid++
	frame := requestFrame(c.xid, op, values...)
	for {
		d, ok := c.exchange(frame)
		if !ok {
			return 0, 0, nil, false
		}
		frame = nil
		xid := d.Int32()
		zxid, code = d.Int64(), wire.Code(d.Int32())
		if xid == wire.XidNotification {
			continue
		}
		if zxid < c.seen {
			c.fail("client %d went back from %#x to %#x", c.number, c.seen, zxid)
		}
		c.seen = max(c.seen, zxid)
		return code, zxid, d, true
	}
}

// step makes one or two requests. It reports false if the connection has ended.
func (c *faultyClient) step() (ok bool) {
	switch c.rng.IntN(7) {
	case 0, 1:
		return c.create()
	case 2, 3:
		return c.compareAndSet()
	case 4:
		c.nodes++
		_, _, _, ok = c.call(wire.OpCreate, fmt.Sprintf("/e-%d-%d", c.number, c.nodes), []byte{}, datatree.OpenACL, int(wire.FlagEphemeral))
	case 5:
		_, _, _, ok = c.call(wire.OpSync, "/")
	case 6:
		_, _, _, ok = c.call(wire.OpMulti, wire.OpCreate, "/never", []byte("x"), datatree.OpenACL) // without its end
	}
	return ok
}

func (c *faultyClient) create() bool {
	c.nodes++
	path, before := fmt.Sprintf("/created/%d-%d", c.number, c.nodes), c.lastZxid()
	code, zxid, _, ok := c.call(wire.OpCreate, path, []byte{}, datatree.OpenACL, 0)
	if ok && code == wire.OK {
		c.wrote(zxid, before, func() { c.created = append(c.created, path) })
	}
	return ok
}

// compareAndSet writes the register if nobody else has, in between.
func (c *faultyClient) compareAndSet() bool {
	code, _, body, ok := c.call(wire.OpGetData, "/register", true)
	if !ok || code != wire.OK {
		return ok
	}
	body.Buffer()
	version := body.Stat().Version
	if version < c.register {
		c.fail("client %d saw version %d after %d", c.number, version, c.register)
	}
	c.register = version
	before := c.lastZxid()
	code, zxid, body, ok := c.call(wire.OpSetData, "/register", []byte(nil), int(version))
	if !ok || code != wire.OK {
		return ok
	}
	c.register = body.Stat().Version
	c.wrote(zxid, before, func() {
		if other := c.writers[c.register]; other != 0 {
			c.wrong = append(c.wrong, fmt.Sprintf("version %d was acknowledged to clients %d and %d", c.register, other, c.number))
		}
		c.writers[c.register] = c.number
		c.version = max(c.version, c.register)
	})
	return true
}

// recover ends all that disturb may have done.
func (e *Ensemble) recover() {
	for _, m := range e.Members() {
		m.Lag(0)
		m.Restart()
		m.Resume()
		m.Heal()
		m.RefuseConnections(false)
	}
	e.Heal()
}
