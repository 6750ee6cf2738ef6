//go:build real

package zktest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// The members of a real ensemble have other addresses, so that the requests of
// TestReconfigConforms cannot be the same to the byte. The lines name a member
// by its number.
type reconfigStage struct {
	*raw
	specs map[string]string // of the members, by number
	first int64             // the version of the first configuration
	lines []string
}

func newReconfigStage(t *testing.T, addr string) *reconfigStage {
	s := &stage{t: t, addr: addr}
	r := &reconfigStage{raw: &raw{t: t, nc: s.dial()}, specs: make(map[string]string)}
	require.NoError(t, r.nc.SetReadDeadline(time.Now().Add(time.Minute)))
	// The client sends no pings. So its session lasts as long as its patience:
	// members on a busy machine may take that long for one answer.
	r.handshake(0, 60_000, 0, nil)
	require.NotZero(t, r.session)
	body := r.call(wire.OpGetData, "/zookeeper/config", false).body
	for line := range strings.SplitSeq(string(body.Buffer()), "\n") {
		key, value, _ := strings.Cut(line, "=")
		if key == "version" {
			version, err := strconv.ParseInt(value, 16, 64)
			require.NoError(t, err)
			r.first = version
			continue
		}
		r.specs[strings.TrimPrefix(key, "server.")] = value
	}
	return r
}

var memberNumber = regexp.MustCompile(`<(\d)>`)

// spec puts what describes a member in the place of <number>.
func (r *reconfigStage) spec(text string) []byte {
	if text == "null" {
		return nil
	}
	return []byte(memberNumber.ReplaceAllStringFunc(text, func(ref string) string {
		return "server." + ref[1:2] + "=" + r.specs[ref[1:2]]
	}))
}

// name is the opposite of spec, for the data of the config node.
func (r *reconfigStage) name(text string) string {
	for id, spec := range r.specs {
		text = strings.ReplaceAll(text, spec, "<"+id+">")
		observer := strings.Replace(spec, ":participant", ":observer", 1)
		text = strings.ReplaceAll(text, observer, "<"+id+" observes>")
	}
	head, version, _ := strings.Cut(text, "version=")
	if n, err := strconv.ParseInt(version, 16, 64); err == nil {
		text = fmt.Sprintf("%sversion=%+d", head, n-r.first)
	}
	return text
}

func (r *reconfigStage) note(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// answer waits for the answer and writes down what comes.
func (r *reconfigStage) answer(what string) {
	for {
		a := r.receive()
		if a.xid == wire.XidNotification {
			r.note("event %v", a.event())
			continue
		}
		line := fmt.Sprintf("%s: %+d error %d", what, a.zxid-r.first, a.code)
		if a.code == wire.OK {
			text := r.name(string(a.body.Buffer()))
			st := a.body.Stat()
			line += fmt.Sprintf(" %q {c %d m %+d p %d versions %d/%d/%d length %v}", text, st.Czxid, st.Mzxid-r.first, st.Pzxid,
				st.Version, st.Cversion, st.Aversion, st.DataLength > 0)
		}
		r.note("%s", line)
		return
	}
}

func (r *reconfigStage) config(watch bool) {
	r.send(wire.OpGetData, "/zookeeper/config", watch)
	r.answer("config")
}

// reconfig makes the request and looks at the node. from is relative to the
// first version; -1 stands for any.
func (r *reconfigStage) reconfig(joining, leaving, members string, from int64) {
	version := from
	if from != -1 {
		version += r.first
	}
	r.send(wire.OpReconfig, r.spec(joining), r.spec(leaving), r.spec(members), version)
	r.answer(fmt.Sprintf("reconfig %q %q %q %d", joining, leaving, members, from))
	r.config(true)
}

// reconfigScript is performed at the leader, so that a real server has put into
// force what it answers. Member 1 is never the leader that starts with the
// others: of those who elect, the highest number wins.
func reconfigScript(r *reconfigStage) {
	r.config(true)
	r.reconfig("null", "1", "null", -1) // has no permission
	require.Equal(r.t, wire.OK, r.call(wire.OpAuth, 0, "digest", []byte(superUser)).code)
	r.reconfig("null", "1", "null", 77)
	r.reconfig("null", "x", "null", -1)
	r.reconfig("server.x=a:1:2;3", "null", "null", -1)
	r.reconfig("server.1", "null", "null", -1)
	r.reconfig("server.9=10.0.0.1:1;3", "null", "null", -1)
	r.reconfig("server.9=10.0.0.1:1:x;3", "null", "null", -1)
	r.reconfig("server.9=10.0.0.1:1:2", "null", "null", -1)
	r.reconfig("server.9=10.0.0.1:1:2:boss;3", "null", "null", -1)
	r.reconfig("server.9=10.0.0.1:1:2;3,server.8=10.0.0.1:2:4;5", "null", "null", -1)
	r.reconfig("null", "1,2,3", "null", -1)
	r.reconfig("null", "null", "", -1)
	r.reconfig("null", "null", "<1>,<2>,<3>,what=x", -1)
	r.reconfig("null", "null", "server.1=x", -1)
	r.reconfig("server.4=10.0.0.1:1:2;3,server.5=10.0.0.2:1:2;3,server.6=10.0.0.3:1:2;3", "null", "null", -1)
	r.reconfig("server.4=10.0.0.1:1:2;3", "null", "null", 0)
	r.reconfig("null", "4", "null", 0)
	r.reconfig("null", "4", "null", -1)
	r.reconfig("server.4=10.0.0.1:1:2:observer;10.0.0.1:3", "", "null", -1)
	r.reconfig("null", "4, 7", "null", -1)
	r.reconfig("null", "1", "null", -1)
	r.reconfig("null", "1", "null", -1)
	r.reconfig("<1>", "null", "null", -1)
	r.reconfig("null", "null", "<2>,<3>", -1)
	r.reconfig("null", "null", "<1>\n<2>\n<3>\n", -1)
}

// A leader that hears of its followers too late steps down, and drops its
// clients. So on a busy machine the real members need patience with each other.
func TestReconfigConforms(t *testing.T) {
	t.Parallel()
	real := zkserver.StartEnsemble(t, 3, zkserver.WithProperty("reconfigEnabled", "true"),
		zkserver.WithInitLimit(600), zkserver.WithSyncLimit(600), // a minute
		zkserver.WithJVMFlags("-Dzookeeper.DigestAuthenticationProvider.superDigest="+datatree.DigestID(superUser).ID))
	leader, err := real.WaitLeader(t.Context())
	require.NoError(t, err)
	fake := StartEnsemble(t, 3, WithTCP("127.0.0.1:0"), WithReconfig(), WithSuperUser(superUser))
	want, got := newReconfigStage(t, leader.Addr()), newReconfigStage(t, fake.Leader().Addr())
	reconfigScript(want)
	reconfigScript(got)
	require.Equal(t, want.lines, got.lines)
}

// Without reconfig an ensemble shows its configuration all the same.
func TestConfigConforms(t *testing.T) {
	real := zkserver.StartEnsemble(t, 1)
	fake := StartEnsemble(t, 1, WithTCP("127.0.0.1:0"))
	script := func(r *reconfigStage) []string {
		r.config(true)
		r.reconfig("null", "1", "null", -1)
		return r.lines
	}
	want := script(newReconfigStage(t, real.Members()[0].Addr()))
	got := script(newReconfigStage(t, fake.Leader().Addr()))
	require.Equal(t, want, got)
}
