//go:build real

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
// ZooKeeper. A leader sends "enter ID TOKEN SESSION" on its own TCP connection,
// gets an answer, and closes the connection when it no longer leads.
//
// When the test ends a leader's session on the server, that leader cannot know
// in time that it no longer leads. So the test first excludes its token: the
// token is refused from then on, and does not keep other leaders out. A fencing
// token cannot do more, and need not. Every other leader must have left before
// the next one enters.
//
// A leader in Java leaves only when its client has heard of the end of its
// session. On a busy machine that is too late. So the checker asks the server
// before it objects to a leader in Java, and excludes a leader whose session
// has ended there. Our leaders must leave by themselves in time.
type leaderChecker struct {
	addr  string
	lives func(session int64) (bool, error) // as testServer has it

	mu struct {
		sync.Mutex
		current  io.Writer  // the connection of the present leader, or nil
		last     leadership // the last one to enter, with the largest token
		excluded map[int64]bool
		changed  chan struct{} // closed when the next leader enters
		led      map[language]int
		late     []int64 // tokens of leaders in Java that the server had ended
		wrong    []string
		over     bool // later events do not matter
	}
}

// leadership is what a leader says of itself.
type leadership struct {
	id      string
	token   int64
	session int64 // 0 for a leader in Go
}

func newLeaderChecker(lives func(session int64) (bool, error)) *leaderChecker {
	c := &leaderChecker{lives: lives}
	c.mu.excluded, c.mu.led = map[int64]bool{}, map[language]int{}
	c.mu.changed = make(chan struct{})
	return c
}

// openLeaderChecker returns a checker for the time of the test. It fails the
// test if anything was wrong.
func openLeaderChecker(t *testing.T, lives func(session int64) (bool, error)) *leaderChecker {
	t.Helper()
	c := newLeaderChecker(lives)
	t.Cleanup(func() {
		if len(c.mu.late) > 0 {
			t.Logf("leaders in Java that had lost their session, and did not know: %v", c.mu.late)
		}
		require.Empty(t, c.mu.wrong)
	})
	c.addr = serveLines(t, c.judge, c.leave)
	return c
}

func (c *leaderChecker) judge(from io.Writer, line string) string {
	var entrant leadership
	_, err := fmt.Sscanf(line, "enter %s %d %d", &entrant.id, &entrant.token, &entrant.session)
	if err != nil {
		return c.object(fmt.Sprintf("%q: %v", line, err))
	}
	for live := map[int64]bool{}; ; {
		verdict, suspect := c.enter(from, entrant, live)
		if suspect.session == 0 {
			return verdict
		}
		lives, err := c.lives(suspect.session)
		if err != nil {
			return c.object(fmt.Sprintf("whether %s has a session: %v", suspect.id, err))
		}
		if live[suspect.session] = lives; !lives {
			c.excludeLate(suspect.token)
		}
	}
}

// enter returns an outcome. Before it objects to a leader in Java it returns
// that one instead, unless live has its session. The same leader may enter
// again after an interruption.
func (c *leaderChecker) enter(
	from io.Writer, entrant leadership, live map[int64]bool,
) (verdict string, suspect leadership) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, occupied := c.mu.last, c.mu.current != nil
	after := entrant.token < last.token
	switch {
	case c.mu.excluded[entrant.token]:
		return "deposed", leadership{}
	case after && entrant.session != 0 && !live[entrant.session]:
		return "", entrant
	case after:
		return c.objectLocked(fmt.Sprintf("%s leads with token %d after %s with %d",
			entrant.id, entrant.token, last.id, last.token)), leadership{}
	case occupied && last.session != 0 && !live[last.session]:
		return "", last
	}
	c.mu.current, c.mu.last = from, entrant
	c.mu.led[languageOf(entrant.id)]++
	close(c.mu.changed)
	c.mu.changed = make(chan struct{})
	if occupied {
		return c.objectLocked(fmt.Sprintf("%s leads with token %d beside %s with %d",
			entrant.id, entrant.token, last.id, last.token)), leadership{}
	}
	return "ok", leadership{}
}

// object records what is wrong, and returns it.
func (c *leaderChecker) object(wrong string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.objectLocked(wrong)
}

// objectLocked is object with mu held.
func (c *leaderChecker) objectLocked(wrong string) string {
	if !c.mu.over {
		c.mu.wrong = append(c.mu.wrong, wrong)
	}
	return wrong
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
	if c.mu.last.token == token {
		c.mu.current = nil
	}
}

// excludeLate excludes a leader in Java whose session has ended.
func (c *leaderChecker) excludeLate(token int64) {
	c.exclude(token)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.late = append(c.mu.late, token)
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
		last, changed, occupied := c.mu.last, c.mu.changed, c.mu.current != nil
		c.mu.Unlock()
		if occupied && last.token > after {
			return last.id, last.token, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", 0, fmt.Errorf("no leader after %s with token %d: %w", last.id, last.token, ctx.Err())
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
	fmt.Fprintf(nc, "enter %s %d 0\n", id, token)
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
	c := newLeaderChecker(func(session int64) (bool, error) { return true, nil })
	one, two := &strings.Builder{}, &strings.Builder{}
	require.Equal(t, "ok", c.judge(one, "enter Go-1 5 0"))
	require.Equal(t, "Java-1 leads with token 6 beside Go-1 with 5", c.judge(two, "enter Java-1 6 9"))
	require.Equal(t, "Go-1 leads with token 5 after Java-1 with 6", c.judge(one, "enter Go-1 5 0"))
	c.leave(one)
	require.Equal(t, "Go-1 leads with token 7 beside Java-1 with 6",
		c.judge(one, "enter Go-1 7 0"), "another one has left")
	c.leave(one)
	require.Equal(t, "ok", c.judge(one, "enter Go-1 7 0"), "after an interruption")
	c.exclude(7)
	require.Equal(t, "ok", c.judge(two, "enter Java-1 8 9"))
	require.Equal(t, "deposed", c.judge(one, "enter Go-1 7 0"))
	require.Len(t, c.mu.wrong, 3)
	require.Equal(t, map[language]int{inGo: 3, inJava: 2}, c.leaderships())
}
