package interop_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// leaderChecker checks that there is one leader at a time. It does not use
// ZooKeeper. A leader sends "enter ID TOKEN" on its own TCP connection, gets an
// answer, and closes the connection when it no longer leads.
//
// When the test ends a leader's session on the server, that leader cannot know
// in time that it no longer leads. So the test first excludes its token: the
// token is refused from then on, and does not keep other leaders out. A fencing
// token cannot do more, and need not. Every other leader must have left before
// the next one enters.
type leaderChecker struct {
	addr string

	mu struct {
		sync.Mutex
		current  io.Writer // the connection of the present leader, or nil
		id       string    // of the last leader
		token    int64     // of the last leader, and the largest of all
		excluded map[int64]bool
		changed  chan struct{} // closed when the next leader enters
		led      map[language]int
		wrong    []string
		over     bool // later events do not matter
	}
}

func newLeaderChecker() *leaderChecker {
	c := &leaderChecker{}
	c.mu.excluded, c.mu.led = map[int64]bool{}, map[language]int{}
	c.mu.changed = make(chan struct{})
	return c
}

// openLeaderChecker returns a checker for the time of the test. It fails the
// test if anything was wrong.
func openLeaderChecker(t *testing.T) *leaderChecker {
	t.Helper()
	c := newLeaderChecker()
	t.Cleanup(func() { require.Empty(t, c.mu.wrong) })
	c.addr = serveLines(t, c.judge, c.leave)
	return c
}

func (c *leaderChecker) judge(from io.Writer, line string) string {
	var id string
	var token int64
	_, err := fmt.Sscanf(line, "enter %s %d", &id, &token)
	c.mu.Lock()
	defer c.mu.Unlock()
	var verdict string
	switch {
	case err != nil:
		verdict = fmt.Sprintf("%q: %v", line, err)
	case c.mu.excluded[token]:
		return "deposed"
	default:
		verdict = c.enter(from, id, token)
	}
	if verdict != "ok" && !c.mu.over {
		c.mu.wrong = append(c.mu.wrong, verdict)
	}
	return verdict
}

// enter must be called with mu held. The same leader may enter again after an
// interruption.
func (c *leaderChecker) enter(from io.Writer, id string, token int64) string {
	lastID, lastToken, occupied := c.mu.id, c.mu.token, c.mu.current != nil
	if token < lastToken {
		return fmt.Sprintf("%s leads with token %d after %s with %d", id, token, lastID, lastToken)
	}
	c.mu.current, c.mu.id, c.mu.token = from, id, token
	c.mu.led[languageOf(id)]++
	close(c.mu.changed)
	c.mu.changed = make(chan struct{})
	if occupied {
		return fmt.Sprintf("%s leads with token %d beside %s with %d", id, token, lastID, lastToken)
	}
	return "ok"
}

func (c *leaderChecker) leave(from io.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.current == from {
		c.mu.current = nil
	}
}

// exclude removes a leader that is going to lose its session without a chance
// to know.
func (c *leaderChecker) exclude(token int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.excluded[token] = true
	if c.mu.token == token {
		c.mu.current = nil
	}
}

// leaderships returns how often each language has led.
func (c *leaderChecker) leaderships() map[language]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.mu.led)
}

// stopChecking ends the checks.
func (c *leaderChecker) stopChecking() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.over = true
}

// await waits for a leader that has a larger token.
func (c *leaderChecker) await(ctx context.Context, after int64) (id string, token int64, err error) {
	for {
		c.mu.Lock()
		id, token, changed, occupied := c.mu.id, c.mu.token, c.mu.changed, c.mu.current != nil
		c.mu.Unlock()
		if occupied && token > after {
			return id, token, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", 0, fmt.Errorf("no leader after %s with token %d: %w", id, token, ctx.Err())
		}
	}
}

// report enters, and leaves when ctx ends.
func (c *leaderChecker) report(ctx context.Context, id string, token int64) error {
	nc, err := net.Dial("tcp", c.addr)
	if err != nil {
		return err
	}
	defer nc.Close()
	answers := bufio.NewReader(nc)
	fmt.Fprintf(nc, "enter %s %d\n", id, token)
	if _, err := answers.ReadString('\n'); err != nil {
		return err
	}
	<-ctx.Done()
	nc.(*net.TCPConn).CloseWrite()
	// The other side closes the connection when it knows.
	_, err = io.Copy(io.Discard, answers)
	return err
}

// languageOf returns the language of a candidate, which begins its id.
func languageOf(id string) language {
	name, _, _ := strings.Cut(id, "-")
	return language(name)
}

// The checker notices two leaders at once, so the tests with it can fail.
func TestLeaderCheckerObjects(t *testing.T) {
	c := newLeaderChecker()
	one, two := &strings.Builder{}, &strings.Builder{}
	require.Equal(t, "ok", c.judge(one, "enter Go-1 5"))
	require.Equal(t, "Java-1 leads with token 6 beside Go-1 with 5", c.judge(two, "enter Java-1 6"))
	require.Equal(t, "Go-1 leads with token 5 after Java-1 with 6", c.judge(one, "enter Go-1 5"))
	c.leave(one)
	require.Equal(t, "Go-1 leads with token 7 beside Java-1 with 6",
		c.judge(one, "enter Go-1 7"), "another one has left")
	c.leave(one)
	require.Equal(t, "ok", c.judge(one, "enter Go-1 7"), "after an interruption")
	c.exclude(7)
	require.Equal(t, "ok", c.judge(two, "enter Java-1 8"))
	require.Equal(t, "deposed", c.judge(one, "enter Go-1 7"))
	require.Len(t, c.mu.wrong, 3)
	require.Equal(t, map[language]int{inGo: 3, inJava: 2}, c.leaderships())
}
