package zktest

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

// words are the administrative commands: four letters in place of the first frame's length,
// with an answer in plain text. Every client may use every command. A real server allows only
// srvr, and the commands in its whitelist.
var words = map[string]func(*wordAnswer){
	"envi": (*wordAnswer).envi,
	"isro": func(a *wordAnswer) { a.WriteString("rw") },
	"mntr": (*wordAnswer).mntrLocked,
	"ruok": func(a *wordAnswer) { a.WriteString("imok") },
	"srvr": (*wordAnswer).srvrLocked,
}

// wordAnswer writes the answer to a word. Its methods need the lock of the server.
type wordAnswer struct {
	strings.Builder
	srv *Server
}

// version is the version in the answers to words. Some clients, such as kazoo, decide by its
// number which requests they use.
func (a *wordAnswer) version() string {
	number := "3.9.3"
	if a.srv.cfg.Version38 {
		number = "3.8.0"
	}
	return number + "-zktest, built on 2000-01-01 00:00 UTC"
}

// fourLetterWord returns the command at the beginning of a connection, or an empty string.
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

// answerWord answers and ends the connection.
func (c *conn) answerWord(word string, r io.Reader) {
	if _, err := io.ReadFull(r, make([]byte, wire.LengthSize)); err != nil {
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
	c.srv.received++
	answer := wordAnswer{srv: c.srv}
	words[word](&answer)
	c.out.push(outFrame{bytes: []byte(answer.String())})
	c.out.finish()
}

func (a *wordAnswer) srvrLocked() {
	fmt.Fprintf(a, "Zookeeper version: %s\nLatency min/avg/max: 0/0.0/0\nReceived: %d\nSent: %d\nConnections: %d\n"+
		"Outstanding: 0\nZxid: 0x%x\nMode: %s\nNode count: %d\n",
		a.version(), a.srv.received, a.srv.sent, len(a.srv.conns), a.srv.zxid, a.srv.modeLocked(), a.nodeCountLocked())
}

// nodeCountLocked is one too many because a real server counts the root twice.
func (a *wordAnswer) nodeCountLocked() int { return a.srv.tree.Len() + 1 }

// envi has only the line that clients read.
func (a *wordAnswer) envi() { fmt.Fprintf(a, "Environment:\nzookeeper.version=%s\n", a.version()) }

// mntrLocked writes the most used of a real server's 500 values.
func (a *wordAnswer) mntrLocked() {
	row := func(key string, value any) { fmt.Fprintf(a, "zk_%s\t%v\n", key, value) }
	row("version", a.version())
	row("server_state", a.srv.modeLocked())
	row("num_alive_connections", len(a.srv.conns))
	row("outstanding_requests", 0)
	row("znode_count", a.nodeCountLocked())
	row("global_sessions", len(a.srv.sessions))
	row("watch_count", a.srv.watches.Len())
	row("packets_received", a.srv.received)
	row("packets_sent", a.srv.sent)
}
