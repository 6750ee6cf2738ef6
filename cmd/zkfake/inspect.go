package main

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gocurator/curator/testing/zktest"
)

type statusBody struct {
	Members     []memberBody `json:"members"`
	Leader      *int         `json:"leader"` // the member that leads with a majority, or null
	Sessions    int          `json:"sessions"`
	Connections int          `json:"connections"`
	Watches     int          `json:"watches"`
	Nodes       int          `json:"nodes"`
	Requests    int          `json:"requests"`
	Zxid        string       `json:"zxid"`
}

type memberBody struct {
	Member      int    `json:"member"`
	Address     string `json:"address"`
	Mode        string `json:"mode"` // see zktest.Stats
	Connections int    `json:"connections"`
	Zxid        string `json:"zxid"`
}

type sessionBody struct {
	ID         string   `json:"id"`
	TimeoutMS  int64    `json:"timeout_ms"`
	Connected  bool     `json:"connected"`
	Ephemerals []string `json:"ephemerals"`
	Watches    int      `json:"watches"`
}

type nodeBody struct {
	Path           string `json:"path"`
	Data           []byte `json:"data"` // base64
	Version        int32  `json:"version"`
	Czxid          string `json:"czxid"`
	Mzxid          string `json:"mzxid"`
	EphemeralOwner string `json:"ephemeral_owner,omitempty"`
	Children       int32  `json:"children"`
}

type watchBody struct {
	Session    string `json:"session"`
	Path       string `json:"path"`
	Kind       string `json:"kind"`
	Persistent bool   `json:"persistent"`
	Recursive  bool   `json:"recursive"`
}

type requestBody struct {
	Number    int64     `json:"number"`
	Time      time.Time `json:"time"`
	Member    int       `json:"member,omitempty"`
	Session   string    `json:"session"`
	Xid       int32     `json:"xid"`
	Op        string    `json:"op"`
	Path      string    `json:"path,omitempty"`
	Watch     bool      `json:"watch"`
	Processed bool      `json:"processed"`
	Err       int32     `json:"err"`
	Zxid      string    `json:"zxid"`
	Created   string    `json:"created,omitempty"`
}

// hex writes sessions and zxids as ZooKeeper does.
func hex(n int64) string { return fmt.Sprintf("%#x", uint64(n)) } //nolint:gosec // all 64 bits

// list turns a nil slice into an empty JSON array, which encoding/json would show as
// null.
func list[T any](of []T) []T {
	if of == nil {
		return []T{}
	}
	return of
}

func (c *control) status(r *http.Request) (any, error) {
	if err := onlyParameters(r); err != nil {
		return nil, err
	}
	s := c.servers
	_, total := s.requests()
	body := statusBody{
		Leader: s.leader(), Sessions: len(s.newest().Sessions()), Connections: s.connections(), Watches: len(s.watches()),
		Nodes: len(s.newest().Tree()), Requests: total, Zxid: hex(s.lastZxid()),
	}
	for i, srv := range s.all {
		stats := srv.Stats()
		body.Members = append(body.Members, memberBody{
			Member: i + 1, Address: srv.Addr(),
			Mode: stats.Mode, Connections: stats.Connections, Zxid: hex(stats.Zxid),
		})
	}
	return body, nil
}

func (c *control) sessions(r *http.Request) (any, error) {
	if err := onlyParameters(r); err != nil {
		return nil, err
	}
	bodies := []sessionBody{}
	for _, sess := range c.servers.newest().Sessions() {
		bodies = append(bodies, sessionToBody(sess))
	}
	return bodies, nil
}

func (c *control) session(r *http.Request) (any, error) {
	if err := onlyParameters(r); err != nil {
		return nil, err
	}
	id, err := parseSession(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	sess, ok := c.servers.session(id)
	if !ok {
		return nil, notFound("no session %s", hex(id))
	}
	return sessionToBody(sess), nil
}

func sessionToBody(s zktest.SessionInfo) sessionBody {
	return sessionBody{hex(s.ID), s.Timeout.Milliseconds(), s.Connected, list(s.Ephemerals), s.WatchCount}
}

func (c *control) tree(r *http.Request) (any, error) {
	if err := onlyParameters(r, "path"); err != nil {
		return nil, err
	}
	top := cmp.Or(r.URL.Query().Get("path"), "/")
	if top[0] != '/' || top != "/" && strings.HasSuffix(top, "/") {
		return nil, badRequest("path=%s: a node's path begins with a slash and does not end in one", top)
	}
	bodies := []nodeBody{}
	for _, n := range c.servers.newest().Tree() {
		if top != "/" && n.Path != top && !strings.HasPrefix(n.Path, top+"/") {
			continue
		}
		bodies = append(bodies, nodeToBody(n))
	}
	if len(bodies) == 0 && top != "/" {
		return nil, notFound("no node %s", top)
	}
	return bodies, nil
}

func nodeToBody(n zktest.Node) nodeBody {
	b := nodeBody{
		Path: n.Path, Data: list(n.Data), Version: n.Stat.Version, Czxid: hex(n.Stat.Czxid), Mzxid: hex(n.Stat.Mzxid),
		Children: n.Stat.NumChildren,
	}
	if n.Stat.EphemeralOwner != 0 {
		b.EphemeralOwner = hex(n.Stat.EphemeralOwner)
	}
	return b
}

func (c *control) watches(r *http.Request) (any, error) {
	if err := onlyParameters(r, "session"); err != nil {
		return nil, err
	}
	var only int64
	if s := r.URL.Query().Get("session"); s != "" {
		id, err := parseSession(s)
		if err != nil {
			return nil, err
		}
		only = id
	}
	bodies := []watchBody{}
	for _, w := range c.servers.watches() {
		if only == 0 || w.Session == only {
			bodies = append(bodies, watchBody{hex(w.Session), w.Path, tableOf(w), w.Persistent, w.Recursive})
		}
	}
	return bodies, nil
}

// tableOf names the server's table that a watch is in.
func tableOf(w zktest.Watch) string {
	if w.Child {
		return "child"
	}
	return "data"
}

func (c *control) requests(r *http.Request) (any, error) {
	if err := onlyParameters(r, "limit", "after"); err != nil {
		return nil, err
	}
	n := numbers{query: r.URL.Query()}
	limit, after := n.limit(100), n.after()
	if n.err != nil {
		return nil, n.err
	}
	bodies := []requestBody{}
	for _, q := range c.servers.log() {
		if q.Number > after {
			bodies = append(bodies, requestToBody(q))
		}
	}
	if r.URL.Query().Has("after") {
		return bodies[:min(limit, len(bodies))], nil // a caller can read on
	}
	return bodies[max(0, len(bodies)-limit):], nil
}

func requestToBody(q zktest.Request) requestBody {
	return requestBody{
		q.Number, q.Time.UTC(), q.Member, hex(q.Session), q.Xid, q.Op.String(), q.Path, q.Watch,
		q.Processed, int32(q.Err), hex(q.Zxid), q.Created,
	}
}
