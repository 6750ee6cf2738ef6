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
var words = map[string]func(*Server, *strings.Builder){
	"conf": (*Server).conf,
	"cons": func(s *Server, b *strings.Builder) { s.writeConnsLocked(b, false) },
	"crst": (*Server).crstLocked,
	"dirs": func(_ *Server, b *strings.Builder) { b.WriteString("datadir_size: 0\nlogdir_size: 0\n") },
	"dump": (*Server).dumpLocked,
	"envi": (*Server).envi,
	"gtmk": func(s *Server, b *strings.Builder) { fmt.Fprint(b, s.traffic.traceMask) },
	"hash": func(*Server, *strings.Builder) {}, // a digest per 128 transactions, of which there is none
	"isro": (*Server).isroLocked,
	"mntr": (*Server).mntrLocked,
	"ruok": func(_ *Server, b *strings.Builder) { b.WriteString("imok") },
	"srst": (*Server).srstLocked,
	"srvr": (*Server).srvrLocked,
	"stat": (*Server).statLocked,
	"stmk": func(s *Server, b *strings.Builder) { fmt.Fprint(b, s.traffic.traceMask) },
	"wchc": (*Server).wchcLocked,
	"wchp": (*Server).wchpLocked,
	"wchs": (*Server).wchsLocked,
}

// version is what the words tell of the server. Clients decide by its number
// what they may ask for; kazoo does.
func (s *Server) version() string {
	return s.cfg.version.String() + "-zktest, built on 2000-01-01 00:00 UTC"
}

// traffic counts frames, for the words that show it.
type traffic struct {
	received, sent int

	// The last request of a connection.
	op   wire.Op
	xid  int32
	zxid int64

	traceMask int64 // of a server: what stmk has set; it has no effect
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
	var answer strings.Builder
	words[word](c.srv, &answer)
	c.out.push(outFrame{bytes: []byte(answer.String())})
	c.out.finish()
}

func (s *Server) isroLocked(b *strings.Builder) {
	if s.readOnlyLocked() {
		b.WriteString("ro")
		return
	}
	b.WriteString("rw")
}

func (s *Server) srvrLocked(b *strings.Builder) {
	fmt.Fprintf(b, "Zookeeper version: %s\n", s.version())
	s.writeTotalsLocked(b)
}

func (s *Server) statLocked(b *strings.Builder) {
	fmt.Fprintf(b, "Zookeeper version: %s\nClients:\n", s.version())
	s.writeConnsLocked(b, true)
	s.writeTotalsLocked(b)
}

func (s *Server) writeTotalsLocked(b *strings.Builder) {
	fmt.Fprintf(b, "Latency min/avg/max: 0/0.0/0\nReceived: %d\nSent: %d\nConnections: %d\nOutstanding: 0\n"+
		"Zxid: 0x%x\nMode: %s\nNode count: %d\n",
		s.traffic.received, s.traffic.sent, len(s.conns), s.zxid, s.modeLocked(), s.nodeCountLocked())
}

func (s *Server) uptime() time.Duration { return time.Since(s.born) }

// nodeCountLocked is one too many because a real server counts the root twice.
func (s *Server) nodeCountLocked() int { return s.tree.Len() + 1 }

// writeConnsLocked writes a line for each connection, and an empty one.
func (s *Server) writeConnsLocked(b *strings.Builder, brief bool) {
	for _, c := range s.connsInOrderLocked() {
		reading := 1
		if c.sess == nil {
			reading = 0 // the connection of the word itself
		}
		fmt.Fprintf(b, " /%s[%d](queued=0,recved=%d,sent=%d", c.nc.RemoteAddr(), reading, c.traffic.received, c.traffic.sent)
		if !brief && c.sess != nil {
			fmt.Fprintf(b, ",sid=0x%x,lop=%s,est=%d,to=%d,lcxid=0x%x,lzxid=0x%x,lresp=%d,llat=0,minlat=0,avglat=0,maxlat=0",
				c.sess.id, lastOperation(c.traffic.op), c.born.UnixMilli(), c.sess.timeout.Milliseconds(),
				c.traffic.xid, c.traffic.zxid, s.uptime().Milliseconds())
		}
		b.WriteString(")\n")
	}
	b.WriteByte('\n')
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

func (s *Server) crstLocked(b *strings.Builder) {
	for c := range s.conns {
		c.traffic.received, c.traffic.sent = 0, 0
	}
	b.WriteString("Connection stats reset.\n")
}

func (s *Server) srstLocked(b *strings.Builder) {
	s.traffic.received, s.traffic.sent = 0, 0
	b.WriteString("Server stats reset.\n")
}

func (s *Server) conf(b *strings.Builder) {
	_, port, _ := net.SplitHostPort(s.Addr())
	fmt.Fprintf(b, "clientPort=%s\nsecureClientPort=-1\ndataDir=\ndataDirSize=0\ndataLogDir=\ndataLogSize=0\n"+
		"tickTime=%d\nmaxClientCnxns=0\nminSessionTimeout=%d\nmaxSessionTimeout=%d\nclientPortListenBacklog=-1\nserverId=%d\n",
		port, s.cfg.tick.Milliseconds(), wire.Millis(s.cfg.minTimeout), wire.Millis(s.cfg.maxTimeout), s.number())
}

func (s *Server) envi(b *strings.Builder) {
	host, err := os.Hostname()
	if err != nil {
		host = "<NA>"
	}
	fmt.Fprintf(b, "Environment:\nzookeeper.version=%s\nhost.name=%s\njava.version=<NA>\njava.vendor=<NA>\njava.home=<NA>\n"+
		"java.class.path=<NA>\njava.library.path=<NA>\njava.io.tmpdir=<NA>\njava.compiler=<NA>\nos.name=%s\nos.arch=%s\n"+
		"os.version=<NA>\nuser.name=<NA>\nuser.home=<NA>\nuser.dir=<NA>\n"+
		"os.memory.free=0MB\nos.memory.max=0MB\nos.memory.total=0MB\n", s.version(), host, runtime.GOOS, runtime.GOARCH)
}

// dumpLocked writes the sessions by the time of their expiry, and their
// ephemeral nodes.
func (s *Server) dumpLocked(b *strings.Builder) {
	b.WriteString("SessionTracker dump:\nSession ")
	dumpExpiry(b, s.sessions, func(sess *session) (time.Time, string) {
		return sess.deadline, fmt.Sprintf("0x%x", sess.id)
	})
	fmt.Fprintf(b, "ephemeral nodes dump:\nSessions with Ephemerals (%d):\n", len(s.tree.Owners()))
	for _, id := range s.tree.Owners() {
		fmt.Fprintf(b, "0x%x:\n", id)
		for _, path := range s.tree.EphemeralsOf(id) {
			fmt.Fprintf(b, "\t%s\n", path)
		}
	}
	b.WriteString("Connections dump:\nConnections ")
	conns := make(map[int64]*conn, len(s.conns))
	for c := range s.conns {
		conns[c.seq] = c
	}
	dumpExpiry(b, conns, func(c *conn) (time.Time, string) {
		if c.sess == nil {
			return c.born, fmt.Sprintf("ip: /%s sessionId: 0x0", c.nc.RemoteAddr())
		}
		return c.sess.deadline, fmt.Sprintf("ip: /%s sessionId: 0x%x", c.nc.RemoteAddr(), c.sess.id)
	})
}

// dumpExpiry writes what ends when.
func dumpExpiry[T any](b *strings.Builder, all map[int64]T, tell func(T) (time.Time, string)) {
	sets := make(map[int64][]string)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		end, name := tell(all[id])
		sets[end.Unix()] = append(sets[end.Unix()], name)
	}
	fmt.Fprintf(b, "Sets (%d)/(%d):\n", len(sets), len(all))
	for _, end := range slices.Sorted(maps.Keys(sets)) {
		fmt.Fprintf(b, "%d expire at %s:\n", len(sets[end]), time.Unix(end, 0).Format(time.UnixDate))
		for _, name := range sets[end] {
			fmt.Fprintf(b, "\t%s\n", name)
		}
	}
}

// dataWatchesLocked returns the paths of the data watches by session, and the
// sessions by path: the words on watches say nothing of the other table.
func (s *Server) dataWatchesLocked() (bySession, byPath map[string][]string) {
	bySession, byPath = make(map[string][]string), make(map[string][]string)
	for key, w := range s.watches.All() {
		if key.Kind == datatree.WatchData {
			session := fmt.Sprintf("0x%x", w.Conn.sess.id)
			bySession[session] = append(bySession[session], key.Path)
			byPath[key.Path] = append(byPath[key.Path], session)
		}
	}
	return bySession, byPath
}

func (s *Server) wchcLocked(b *strings.Builder) {
	bySession, _ := s.dataWatchesLocked()
	writeGroups(b, bySession)
}

func (s *Server) wchpLocked(b *strings.Builder) {
	_, byPath := s.dataWatchesLocked()
	writeGroups(b, byPath)
}

func writeGroups(b *strings.Builder, groups map[string][]string) {
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		slices.Sort(groups[name])
		fmt.Fprintf(b, "%s\n\t%s\n", name, strings.Join(groups[name], "\n\t"))
	}
	b.WriteByte('\n')
}

func (s *Server) wchsLocked(b *strings.Builder) {
	bySession, byPath := s.dataWatchesLocked()
	total := 0
	for _, paths := range bySession {
		total += len(paths)
	}
	fmt.Fprintf(b, "%d connections watching %d paths\nTotal watches:%d\n", len(bySession), len(byPath), total)
}

// mntrLocked writes the part of a real server's some 500 values that people
// look at.
func (s *Server) mntrLocked(b *strings.Builder) {
	row := func(key string, value any) { fmt.Fprintf(b, "zk_%s\t%v\n", key, value) }
	ephemerals := 0
	for _, id := range s.tree.Owners() {
		ephemerals += len(s.tree.EphemeralsOf(id))
	}
	row("version", s.version())
	row("server_state", s.modeLocked())
	row("ephemerals_count", ephemerals)
	row("num_alive_connections", len(s.conns))
	row("avg_latency", "0.0")
	row("min_latency", 0)
	row("max_latency", 0)
	row("outstanding_requests", 0)
	row("znode_count", s.nodeCountLocked())
	row("global_sessions", len(s.sessions))
	row("local_sessions", 0)
	row("watch_count", s.watches.Len())
	row("packets_received", s.traffic.received)
	row("packets_sent", s.traffic.sent)
	row("approximate_data_size", s.tree.Size())
	row("uptime", s.uptime().Milliseconds())
}
