//go:build real

package zktest

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// minority is what a read-only script needs of an ensemble: the address of one
// member, and what makes that member one of a minority and ends that.
type minority struct {
	addr       string
	alone, all func()
}

// awaitMode waits for the answer to isro. A member that serves nobody ends the
// connection instead.
func (s *stage) awaitMode(isro string) {
	require.Eventually(s.t, func() bool { return s.tryWord("isro") == isro }, 30*time.Second, 20*time.Millisecond)
	for line := range strings.Lines(s.tryWord("srvr")) {
		if mode, ok := strings.CutPrefix(line, "Mode: "); ok && isro == "ro" {
			s.lines = append(s.lines, strings.TrimSpace(mode))
		}
	}
}

// tryWord returns the answer to a four-letter word, or nothing.
func (s *stage) tryWord(word string) string {
	nc, err := net.Dial("tcp", s.addr)
	if err != nil {
		return ""
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(nc, word)
	answer, _ := io.ReadAll(nc)
	return string(answer)
}

func readOnlyScript(s *stage, m minority) {
	global := s.stranger()
	global.connect(0, scriptSession, 0, nil, agrees)
	s.base = global.call(wire.OpCreate, "/e", []byte{}, datatree.OpenACL, 1).zxid // upgrades the session, which is local at first
	global.create("/a", none)
	seen := global.call(wire.OpExists, "/", false).zxid

	m.alone()
	global.awaitEnd()
	s.awaitMode("ro")

	refused := s.stranger()
	refused.open()
	refused.connect(0, scriptSession, 0, nil, disagrees)
	refused.connect(seen+1, scriptSession, 0, nil, agrees)
	global.connect(0, scriptSession, global.session, global.password, agrees)

	c := s.stranger()
	c.connect(seen, scriptSession, 0, nil, agrees)
	c.get("/a", true)
	c.exists("/none", true)
	c.children("/", true)
	c.do(wire.OpGetChildren2, "/", false)
	c.do(wire.OpGetACL, "/a")
	c.do(wire.OpGetEphemerals, "")
	c.do(wire.OpGetAllChildrenNumber, "/")
	c.do(wire.OpMultiRead, wire.OpGetData, "/a", false, wire.OpError)
	c.do(wire.OpAddWatch, "/a", 1)
	c.do(wire.OpRemoveWatches, "/a", 3)
	c.do(wire.OpWhoAmI)
	c.do(wire.OpAuth, 0, "digest", []byte("user:secret"))
	c.do(wire.OpPing)
	c.create("/b", none)
	c.create("/b", 1)
	c.create2("/b", none)
	c.do(wire.OpCreateContainer, "/b", []byte("x"), datatree.OpenACL, 4)
	c.do(wire.OpCreateTTL, "/b", []byte("x"), datatree.OpenACL, 5, int64(1000))
	c.delete("/a", -1)
	c.set("/a", "x", -1)
	c.do(wire.OpSetACL, "/a", datatree.OpenACL, -1)
	c.do(wire.OpSync, "/")
	c.do(wire.OpReconfig, []byte(nil), []byte("1"), []byte(nil), int64(-1))
	c.multi(wire.OpSetData, "/a", []byte("x"), -1)
	c.set("/none", "x", -1)
	c.get("/a", false)
	c.hangUp()
	c.connect(0, scriptSession, c.session, c.password, agrees)
	c.exists("/a", false)
	old, right := c.nc, c.password
	c.connect(0, scriptSession, c.session, make([]byte, passwordSize), agrees)
	c.awaitEnd()
	require.NoError(s.t, old.SetReadDeadline(time.Now().Add(3*time.Second)))
	_, err := wire.ReadFrame(old)
	c.note("the connection before the wrong password: %v", err)
	c.connect(0, scriptSession, c.session, right, agrees)
	c.exists("/a", false)
	other := s.stranger()
	other.connect(0, scriptSession, c.session+1000, c.password, agrees)
	other.connect(0, scriptSession, 0, nil, agrees)
	other.do(wire.OpCloseSession)
	other.connect(0, scriptSession, other.session, other.password, agrees)

	m.all()
	c.awaitEnd()
	s.awaitMode("rw")
	c.connect(0, scriptSession, c.session, c.password, agrees)
	c.connect(0, scriptSession, 0, nil, agrees)
	c.note("set: %v", c.call(wire.OpSetData, "/a", []byte("x"), -1).code)
	global.connect(0, scriptSession, global.session, global.password, agrees)
	global.note("set: %v", global.call(wire.OpSetData, "/a", []byte("y"), -1).code)
}

// stranger returns a client without a connection.
func (s *stage) stranger() *player {
	p := &player{raw: &raw{t: s.t}, stage: s, name: string(rune('a' + len(s.players)))}
	s.players = append(s.players, p)
	return p
}

// performReadOnly performs the script and returns the transcript.
func performReadOnly(t *testing.T, m minority) []string {
	s := &stage{t: t, addr: m.addr}
	defer s.abandon()
	readOnlyScript(s, m)
	return s.lines
}

// A real server takes no client in without local sessions: it answers the
// handshake with an error that no client can read. With them, every session is
// local until it has an ephemeral node.
func TestReadOnlyModeConforms(t *testing.T) {
	t.Parallel()
	real := zkserver.StartEnsemble(t, 2, zkserver.WithSessionTimeouts(shortestSession, longestSession),
		zkserver.WithJVMFlags("-Dreadonlymode.enabled=true"),
		zkserver.WithProperty("localSessionsEnabled", "true"),
		zkserver.WithProperty("localSessionsUpgradingEnabled", "true"))
	one, other := real.Members()[0], real.Members()[1]
	want := performReadOnly(t, minority{
		addr:  one.Addr(),
		alone: func() { require.NoError(t, other.Kill()) },
		all:   func() { require.NoError(t, other.Restart()) },
	})
	fake := StartEnsemble(t, 2, WithTCP("127.0.0.1:0"), WithReadOnlyMode(),
		WithSessionTimeouts(shortestSession, longestSession))
	got := performReadOnly(t, minority{
		addr:  fake.Members()[0].Addr(),
		alone: func() { require.NoError(t, fake.Members()[1].Stop()) },
		all:   func() { require.NoError(t, fake.Members()[1].Restart()) },
	})
	require.Equal(t, want, got, "real ZooKeeper against zktest")
}
