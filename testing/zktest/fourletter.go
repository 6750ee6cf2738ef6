package zktest

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/testing/zktest/internal/datatree"
	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// words are the administrative commands: four letters in the place of the first
// frame's length, answered in plain text. All of them are open to everyone,
// where a real server allows only srvr unless its whitelist says otherwise.
var words = map[string]func(*wordAnswer){
	"conf": (*wordAnswer).conf,
	"cons": func(a *wordAnswer) { a.connsLocked(false) },
	"crst": (*wordAnswer).crstLocked,
	"dirs": func(a *wordAnswer) { a.WriteString("datadir_size: 0\nlogdir_size: 0\n") },
	"dump": (*wordAnswer).dumpLocked,
	"envi": (*wordAnswer).envi,
	"gtmk": (*wordAnswer).traceMaskLocked,
	"hash": func(*wordAnswer) {}, // a digest per 128 transactions; there is none
	"isro": (*wordAnswer).isroLocked,
	"mntr": (*wordAnswer).mntrLocked,
	"ruok": func(a *wordAnswer) { a.WriteString("imok") },
	"srst": (*wordAnswer).srstLocked,
	"srvr": (*wordAnswer).srvrLocked,
	"stat": (*wordAnswer).statLocked,
	"stmk": (*wordAnswer).traceMaskLocked,
	"wchc": (*wordAnswer).wchcLocked,
	"wchp": (*wordAnswer).wchpLocked,
	"wchs": (*wordAnswer).wchsLocked,
}

// wordAnswer is the answer to a word about a server, while it is written. Its
// methods need the lock of the server.
type wordAnswer struct {
	strings.Builder
	srv *Server
}

// version is what the words tell of the server. Clients decide by its number
// what they may ask for; kazoo does.
func (a *wordAnswer) version() string {
	return a.srv.cfg.version.String() + "-zktest, built on 2000-01-01 00:00 UTC"
}

// fourLetterWord returns the command at the beginning of a connection, "" if
// there is none.
func fourLetterWord(r *bufio.Reader) string {
	head, err := r.Peek(wire.LengthSize)
	if err != nil {
		return ""
	}
	if _, known := words[string(head)]; !known {
		return ""
	}
	return string(head)
}

// answerWord answers and ends the connection. The word stmk is followed by the
// mask to set.
func (c *conn) answerWord(word string, r io.Reader) {
	request := make([]byte, wire.LengthSize+8)
	if word != "stmk" {
		request = request[:wire.LengthSize]
	}
	if _, err := io.ReadFull(r, request); err != nil {
		c.close()
		return
	}
	c.srv.mu.Lock()
	defer c.srv.unlock()
	for c.srv.paused && c.receivesLocked() {
		c.awaitChangeLocked()
	}
	if !c.receivesLocked() {
		return
	}
	c.traffic.received++
	c.srv.traffic.received++
	if word == "stmk" {
		c.srv.traffic.traceMask = (&wire.Decoder{Buf: request[wire.LengthSize:]}).Int64()
	}
	answer := wordAnswer{srv: c.srv}
	words[word](&answer)
	c.out.push(outFrame{bytes: []byte(answer.String())})
	c.out.finish()
}

func (a *wordAnswer) isroLocked() {
	if a.srv.readOnlyLocked() {
		a.WriteString("ro")
		return
	}
	a.WriteString("rw")
}

func (a *wordAnswer) srvrLocked() {
	fmt.Fprintf(a, "Zookeeper version: %s\n", a.version())
	a.totalsLocked()
}

func (a *wordAnswer) statLocked() {
	fmt.Fprintf(a, "Zookeeper version: %s\nClients:\n", a.version())
	a.connsLocked(true)
	a.totalsLocked()
}

func (a *wordAnswer) totalsLocked() {
	fmt.Fprintf(a, "Latency min/avg/max: 0/0.0/0\nReceived: %d\nSent: %d\nConnections: %d\nOutstanding: 0\n"+
		"Zxid: 0x%x\nMode: %s\nNode count: %d\n",
		a.srv.traffic.received, a.srv.traffic.sent, len(a.srv.conns), a.srv.zxid, a.srv.modeLocked(), a.nodeCountLocked())
}

func (a *wordAnswer) uptime() time.Duration { return time.Since(a.srv.born) }

// nodeCountLocked is one too many because a real server counts the root twice.
func (a *wordAnswer) nodeCountLocked() int { return a.srv.tree.Len() + 1 }

// connsLocked writes a line for each connection, and an empty one.
func (a *wordAnswer) connsLocked(brief bool) {
	for _, c := range a.srv.conns.inOrder() {
		reading := 1
		if c.sess == nil {
			reading = 0 // the connection of the word itself
		}
		fmt.Fprintf(a, " /%s[%d](queued=0,recved=%d,sent=%d", c.nc.RemoteAddr(), reading, c.traffic.received, c.traffic.sent)
		if !brief && c.sess != nil {
			fmt.Fprintf(a, ",sid=0x%x,lop=%s,est=%d,to=%d,lcxid=0x%x,lzxid=0x%x,lresp=%d,llat=0,minlat=0,avglat=0,maxlat=0",
				c.sess.id, lastOperation(c.traffic.op), c.born.UnixMilli(), c.sess.timeout.Milliseconds(),
				c.traffic.xid, c.traffic.zxid, a.uptime().Milliseconds())
		}
		a.WriteString(")\n")
	}
	a.WriteByte('\n')
}

// lastOperation is the name that cons has for a request.
func lastOperation(op wire.Op) string {
	names := map[wire.Op]string{
		wire.OpConnect: "SESS", wire.OpPing: "PING", wire.OpMulti: "MULT", wire.OpMultiRead: "MLTR", wire.OpCreate: "CREA", wire.OpDelete: "DELE",
		wire.OpDeleteContainer: "DELE", wire.OpSetData: "SETD", wire.OpSetACL: "SETA", wire.OpCloseSession: "CLOS", wire.OpSync: "SYNC",
		wire.OpExists: "EXIS", wire.OpGetData: "GETD", wire.OpSetWatches: "SETW", wire.OpAddWatch: "ADDW", wire.OpGetACL: "GETA",
		wire.OpGetChildren: "GETC", wire.OpGetAllChildrenNumber: "GETACN", wire.OpCheckWatches: "CHKW", wire.OpRemoveWatches: "REMW",
		wire.OpWhoAmI: "HOMI", wire.OpGetEphemerals: "GETE", wire.OpReconfig: "RECO",
	}
	if name, known := names[op.Family()]; known {
		return name
	}
	return "NA"
}

func (a *wordAnswer) crstLocked() {
	for c := range a.srv.conns {
		c.traffic.received, c.traffic.sent = 0, 0
	}
	a.WriteString("Connection stats reset.\n")
}

func (a *wordAnswer) srstLocked() {
	a.srv.traffic.received, a.srv.traffic.sent = 0, 0
	a.WriteString("Server stats reset.\n")
}

func (a *wordAnswer) conf() {
	_, port, _ := net.SplitHostPort(a.srv.Addr())
	fmt.Fprintf(a, "clientPort=%s\nsecureClientPort=-1\ndataDir=\ndataDirSize=0\ndataLogDir=\ndataLogSize=0\n"+
		"tickTime=%d\nmaxClientCnxns=0\nminSessionTimeout=%d\nmaxSessionTimeout=%d\nclientPortListenBacklog=-1\nserverId=%d\n",
		port, a.srv.cfg.tick.Milliseconds(), wire.Millis(a.srv.cfg.minTimeout), wire.Millis(a.srv.cfg.maxTimeout), a.srv.number())
}

func (a *wordAnswer) envi() {
	host, err := os.Hostname()
	if err != nil {
		host = "<NA>"
	}
	fmt.Fprintf(a, "Environment:\nzookeeper.version=%s\nhost.name=%s\njava.version=<NA>\njava.vendor=<NA>\njava.home=<NA>\n"+
		"java.class.path=<NA>\njava.library.path=<NA>\njava.io.tmpdir=<NA>\njava.compiler=<NA>\nos.name=%s\nos.arch=%s\n"+
		"os.version=<NA>\nuser.name=<NA>\nuser.home=<NA>\nuser.dir=<NA>\n"+
		"os.memory.free=0MB\nos.memory.max=0MB\nos.memory.total=0MB\n", a.version(), host, runtime.GOOS, runtime.GOARCH)
}

// dumpLocked writes the sessions by the time of their expiry, and their
// ephemeral nodes.
func (a *wordAnswer) dumpLocked() {
	a.WriteString("SessionTracker dump:\nSession ")
	dumpExpiry(a, a.srv.sessions, func(sess *session) (time.Time, string) {
		return sess.deadline, fmt.Sprintf("0x%x", sess.id)
	})
	fmt.Fprintf(a, "ephemeral nodes dump:\nSessions with Ephemerals (%d):\n", len(a.srv.tree.Owners()))
	for _, id := range a.srv.tree.Owners() {
		fmt.Fprintf(a, "0x%x:\n", id)
		for _, path := range a.srv.tree.EphemeralsOf(id) {
			fmt.Fprintf(a, "\t%s\n", path)
		}
	}
	a.WriteString("Connections dump:\nConnections ")
	conns := make(map[int64]*conn, len(a.srv.conns))
	for c := range a.srv.conns {
		conns[c.seq] = c
	}
	dumpExpiry(a, conns, func(c *conn) (time.Time, string) {
		if c.sess == nil {
			return c.born, fmt.Sprintf("ip: /%s sessionId: 0x0", c.nc.RemoteAddr())
		}
		return c.sess.deadline, fmt.Sprintf("ip: /%s sessionId: 0x%x", c.nc.RemoteAddr(), c.sess.id)
	})
}

// dumpExpiry writes what ends when.
func dumpExpiry[T any](a *wordAnswer, all map[int64]T, tell func(T) (time.Time, string)) {
	sets := make(map[int64][]string)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		end, name := tell(all[id])
		sets[end.Unix()] = append(sets[end.Unix()], name)
	}
	fmt.Fprintf(a, "Sets (%d)/(%d):\n", len(sets), len(all))
	for _, end := range slices.Sorted(maps.Keys(sets)) {
		fmt.Fprintf(a, "%d expire at %s:\n", len(sets[end]), time.Unix(end, 0).Format(time.UnixDate))
		for _, name := range sets[end] {
			fmt.Fprintf(a, "\t%s\n", name)
		}
	}
}

// dataWatchesLocked returns the paths of the data watches by session, and the
// sessions by path: the words on watches say nothing of the other table.
func (a *wordAnswer) dataWatchesLocked() (bySession, byPath map[string][]string) {
	bySession, byPath = make(map[string][]string), make(map[string][]string)
	for key, w := range a.srv.watches.All() {
		if key.Kind == datatree.WatchData {
			session := fmt.Sprintf("0x%x", w.Conn.sess.id)
			bySession[session] = append(bySession[session], key.Path)
			byPath[key.Path] = append(byPath[key.Path], session)
		}
	}
	return bySession, byPath
}

func (a *wordAnswer) wchcLocked() {
	bySession, _ := a.dataWatchesLocked()
	a.groups(bySession)
}

func (a *wordAnswer) wchpLocked() {
	_, byPath := a.dataWatchesLocked()
	a.groups(byPath)
}

func (a *wordAnswer) groups(groups map[string][]string) {
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		slices.Sort(groups[name])
		fmt.Fprintf(a, "%s\n\t%s\n", name, strings.Join(groups[name], "\n\t"))
	}
	a.WriteByte('\n')
}

func (a *wordAnswer) wchsLocked() {
	bySession, byPath := a.dataWatchesLocked()
	total := 0
	for _, paths := range bySession {
		total += len(paths)
	}
	fmt.Fprintf(a, "%d connections watching %d paths\nTotal watches:%d\n", len(bySession), len(byPath), total)
}

// mntrLocked writes the part of a real server's some 500 values that people
// look at.
func (a *wordAnswer) mntrLocked() {
	row := func(key string, value any) { fmt.Fprintf(a, "zk_%s\t%v\n", key, value) }
	ephemerals := 0
	for _, id := range a.srv.tree.Owners() {
		ephemerals += len(a.srv.tree.EphemeralsOf(id))
	}
	row("version", a.version())
	row("server_state", a.srv.modeLocked())
	row("ephemerals_count", ephemerals)
	row("num_alive_connections", len(a.srv.conns))
	row("avg_latency", "0.0")
	row("min_latency", 0)
	row("max_latency", 0)
	row("outstanding_requests", 0)
	row("znode_count", a.nodeCountLocked())
	row("global_sessions", len(a.srv.sessions))
	row("local_sessions", 0)
	row("watch_count", a.srv.watches.Len())
	row("packets_received", a.srv.traffic.received)
	row("packets_sent", a.srv.traffic.sent)
	row("approximate_data_size", a.srv.tree.Size())
	row("uptime", a.uptime().Milliseconds())
}

// traceMaskLocked writes what stmk has set. It has no effect.
func (a *wordAnswer) traceMaskLocked() { fmt.Fprint(a, a.srv.traffic.traceMask) }
