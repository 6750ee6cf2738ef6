package zktest

import (
	"bufio"
	"fmt"
	"strings"
)

// words are the administrative commands: four letters in the place of the first
// frame's length, answered in plain text.
var words = map[string]func(*Server) string{
	"ruok": func(*Server) string { return "imok" },
	"isro": func(*Server) string { return "rw" },
	"srvr": (*Server).srvr,
	"mntr": (*Server).mntr,
}

const version = "3.9.3-zktest"

// fourLetterWord returns the command at the beginning of a connection, "" if
// there is none.
func fourLetterWord(r *bufio.Reader) string {
	head, err := r.Peek(lengthSize)
	if err != nil {
		return ""
	}
	if _, known := words[string(head)]; !known {
		return ""
	}
	return string(head)
}

// answerWord answers and ends the connection.
func (c *conn) answerWord(word string) {
	answer := []byte(words[word](c.srv))
	c.srv.mu.Lock()
	defer c.srv.unlock()
	if c.hears() {
		c.out.push(outFrame{bytes: answer})
		c.out.finish()
	}
}

func (s *Server) srvr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("Zookeeper version: %s, built on 2000-01-01 00:00 UTC\n"+
		"Latency min/avg/max: 0/0.0/0\nReceived: %d\nSent: %d\nConnections: %d\nOutstanding: 0\n"+
		"Zxid: %#x\nMode: %s\nNode count: %d\n",
		version, s.log.total(), s.log.total()+s.notified, len(s.conns), s.zxid, s.mode(), len(s.tree.nodes)+1)
}

// count returns how many elements a map of sets has.
func count[K, V comparable](sets map[K]map[V]struct{}) (n int) {
	for _, set := range sets {
		n += len(set)
	}
	return n
}

func (s *Server) mntr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	row := func(key string, value any) { fmt.Fprintf(&b, "zk_%s\t%v\n", key, value) }
	row("version", version)
	row("server_state", s.mode())
	row("num_alive_connections", len(s.conns))
	row("znode_count", len(s.tree.nodes)+1) // a real server counts the root twice
	row("watch_count", count(s.watches.byConn))
	row("ephemerals_count", count(s.tree.ephemerals))
	return b.String()
}
