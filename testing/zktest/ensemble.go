package zktest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/memnet"
)

// Ensemble is several servers with one history, as a replicated ZooKeeper. One
// of them leads: it alone makes transactions and decides on sessions. The
// others follow, and answer reads from what they have applied so far. An
// ensemble serves while a majority of its members is up and connected. All
// methods may be called from any goroutine.
type Ensemble struct {
	*cluster
	members []*Member

	// Guarded by mu.
	leader      *Member // the one of the last epoch, until it steps down
	hadMajority bool    // a majority followed the leader when somebody last looked
	election    *alarm
	ping        *alarm
	pingAt      time.Time    // when it goes off
	log         requestLog   // of all members
	view        ensembleView // who belongs to the ensemble, and who votes
	voterCount  int          // how many do; see setViewLocked

	changing   []*Member // those with a new role, see adoptLocked
	roleChange *alarm
}

// StartEnsemble returns a running ensemble of n members, which has a leader and
// is closed when the test ends. An n that is not positive, and options that are
// nil or make no sense, fail the test. In a bubble of testing/synctest,
// StartEnsemble must be called in the bubble.
func StartEnsemble(tb TB, n int, opts ...Option) *Ensemble {
	tb.Helper()
	e, err := RunEnsemble(n, opts...)
	if err != nil {
		tb.Fatalf("%v", err)
		return nil // Fatalf of a TB that is not a test may return
	}
	e.tb = tb
	tb.Cleanup(func() {
		for _, s := range e.servers() {
			s.dialers.logUnclosed(tb)
		}
		_ = e.Close()
	})
	return e
}

// RunEnsemble is [StartEnsemble] without a test: the caller has to close the
// ensemble. The error is that of [Run], or says that n is not positive.
func RunEnsemble(n int, opts ...Option) (*Ensemble, error) {
	if n < 1 {
		return nil, fmt.Errorf("zktest: an ensemble of %d members", n)
	}
	cfg, err := configured(opts)
	if err != nil {
		return nil, err
	}
	if cfg.tick == 0 {
		cfg.tick = defaultTick
	}
	e := &Ensemble{cluster: newCluster(cfg)}
	e.ens = e
	for i := range n + cfg.spares {
		e.addMember(i)
	}
	if err := e.begin(); err != nil {
		_ = e.Close()
		return nil, fmt.Errorf("zktest: %w", err)
	}
	return e, nil
}

// servers returns the members as what they are besides.
func (e *Ensemble) servers() []*Server {
	var servers []*Server
	for _, m := range e.members {
		servers = append(servers, m.Server)
	}
	return servers
}

// begin lets the members work.
func (e *Ensemble) begin() error {
	if err := e.simulateConfigured(victims{servers: e.servers(), ens: e}); err != nil {
		return err
	}
	if err := e.listen(); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.unlock()
	e.setFirstViewLocked()
	e.electLocked()
	e.confirmViewLocked()
	return nil
}

// listen opens the ports of the members, if they are to have any.
func (e *Ensemble) listen() error {
	if e.cfg.tcp == "" {
		return nil
	}
	for i, m := range e.members {
		addr, err := portAfter(e.cfg.tcp, i)
		if err != nil {
			return err
		}
		if err := m.listen(addr); err != nil {
			return err
		}
	}
	return nil
}

// addMember makes member i. In-memory members have consecutive made-up ports;
// so have those that listen, unless the port is to be any free one.
func (e *Ensemble) addMember(i int) {
	m := &Member{Server: newServer(e.cluster), id: i + 1}
	m.address = memoryAddr(m.id)
	m.member, m.tree.Recording = m, true
	e.members = append(e.members, m)
}

// portAfter returns the i-th address after addr; port 0 stands for any.
func portAfter(addr string, i int) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(port)
	if err != nil || n == 0 {
		return addr, nil // let net.Listen judge
	}
	return net.JoinHostPort(host, strconv.Itoa(n+i)), nil
}

// Close ends all members as [Server.Close] ends a server.
func (e *Ensemble) Close() error {
	e.mu.Lock()
	e.stopClocksLocked()
	e.election.stop()
	e.ping.stop()
	e.roleChange.stop()
	for _, m := range e.members {
		m.applying.stop()
		m.givingUp.stop()
		m.readOnly.begin.stop()
		m.closeLocked()
	}
	e.unlock()
	for _, m := range e.members {
		m.wg.Wait()
	}
	e.timers.Wait()
	return nil
}

// Restart is [Server.Restart] of all members: all are stopped, and then
// started. Members that were closed for good stay away. The error is
// [ErrClosed] after Close.
func (e *Ensemble) Restart() error {
	e.mu.Lock()
	defer e.unlock()
	if e.closing {
		return ErrClosed
	}
	for _, m := range e.members {
		m.stopLocked()
	}
	for _, m := range e.members {
		m.startLocked()
	}
	return nil
}

// Members returns the members in the order of their ids, running or not. Those
// of [WithSpareMembers] come last.
func (e *Ensemble) Members() []*Member { return slices.Clone(e.members) }

// Leader returns the leader, or nil if no member leads with a majority.
func (e *Ensemble) Leader() *Member {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.leader == nil || !e.leader.canCommitLocked() {
		return nil
	}
	return e.leader
}

// Followers returns the members that serve, and follow the leader as far as
// they know.
func (e *Ensemble) Followers() []*Member {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(e.members), func(m *Member) bool {
		return m.leader == nil || m.leader == m
	})
}

// ConnectString returns the addresses of all members of the present
// configuration, separated by commas: without [WithReconfig], of all members.
// Without [WithTCP] only [Ensemble.Dialer] understands them.
func (e *Ensemble) ConnectString() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var addrs []string
	for _, m := range e.members {
		if e.view.has(m.id) {
			addrs = append(addrs, m.Addr())
		}
	}
	return strings.Join(addrs, ",")
}

// Dialer returns a function that connects within the process to the member with
// the address, and refuses addresses of no member. The signature is that of
// [net.Dialer.DialContext].
func (e *Ensemble) Dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	return e.dial
}

func (e *Ensemble) dial(ctx context.Context, network, address string) (net.Conn, error) {
	s := e.serverAt(address)
	if s == nil {
		return nil, memnet.DialError(network, address, syscall.ECONNREFUSED)
	}
	return s.dial(ctx, network, address)
}

// serverAt returns the member with the address, or nil.
func (e *Ensemble) serverAt(address string) *Server {
	for _, m := range e.members {
		if m.Addr() == address || m.address == address {
			return m.Server
		}
	}
	return nil
}

// Partition cuts the network between the given members and all others. Among
// themselves they stay connected, unless an earlier call has cut them apart: a
// further call only adds cuts. Clients reach them as before. The members notice
// the cut in their own time, as in reality: see MODEL.md in this folder.
//
// No members, all members, a nil member and one of another ensemble are
// refused: they fail the test of the ensemble, and are an error for an ensemble
// of [RunEnsemble].
func (e *Ensemble) Partition(members ...*Member) error {
	if err := e.checkPartition(members); err != nil {
		return e.misuse("%w", err)
	}
	e.mu.Lock()
	defer e.unlock()
	e.partitionLocked(members...)
	return nil
}

func (e *Ensemble) checkPartition(members []*Member) error {
	for i, m := range members {
		if !slices.Contains(e.members, m) {
			return fmt.Errorf("a partition whose member %d of %d is nil, or not of this ensemble", i+1, len(members))
		}
	}
	if len(members) == 0 {
		return errors.New("a partition of no member")
	}
	if !slices.ContainsFunc(e.members, func(m *Member) bool { return !slices.Contains(members, m) }) {
		return errors.New("a partition of all members, which leaves nobody to be cut off from")
	}
	return nil
}

// partitionLocked splits each part of the network into the given members and
// the others.
func (e *Ensemble) partitionLocked(members ...*Member) {
	type side struct {
		part  int
		given bool
	}
	parts := make(map[side]int)
	for _, m := range e.members {
		of := side{m.part, slices.Contains(members, m)}
		if _, known := parts[of]; !known {
			parts[of] = len(parts)
		}
		m.part = parts[of]
	}
	e.updateLocked()
}

// Heal ends every [Ensemble.Partition]. A member gets at once all that it has
// missed; a member that had given up its leader joins again. Use [Server.Heal]
// for the black holes of a member's clients.
func (e *Ensemble) Heal() {
	e.mu.Lock()
	defer e.unlock()
	for _, m := range e.members {
		m.part = 0
	}
	e.updateLocked()
}

// WaitLeader waits until a member leads with a majority, and returns it.
// It ends as [Server.WaitFor] does.
func (e *Ensemble) WaitLeader(ctx context.Context) (*Member, error) {
	var leader *Member
	err := e.WaitFor(ctx, func() bool {
		leader = e.Leader()
		return leader != nil
	})
	return leader, err
}

// Requests returns the last requests to all members together, as many as
// [Server.Requests] of one, in the order in which they got to them:
// [Request.Member] says to which.
func (e *Ensemble) Requests() []Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.log.all()
}

// Dump is [Server.Dump] for every member.
func (e *Ensemble) Dump() string {
	var b strings.Builder
	for _, m := range e.members {
		fmt.Fprintf(&b, "member %d, %s: %s", m.id, m.Mode(), m.Dump())
	}
	return b.String()
}
