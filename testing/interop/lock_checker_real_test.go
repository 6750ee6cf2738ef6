//go:build real

package interop_test

import (
	"fmt"
	"io"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lockChecker checks that a lock excludes others. It does not use ZooKeeper.
// The holder of the lock sends "enter LANGUAGE TOKEN WEIGHT" and "leave" on its
// own TCP connection. The answer is "ok", or a text that says what is wrong.
// The holders inside may together have no more weight than the capacity. A
// holder with the whole capacity is alone: its token must be larger than all
// before it, and all later tokens must be larger than it.
type lockChecker struct {
	capacity int
	addr     string

	mu struct {
		sync.Mutex
		// inside has the weights of the connections that have entered.
		inside map[io.Writer]int
		alone  int64 // the largest token of a holder that was alone
		token  int64 // the largest token of all
		last   language
		stats  tally
		wrong  []string
	}
}

// tally counts the events at the checker.
type tally struct {
	entered  map[language]int
	crossing int // one language entered after the other
	most     int // the largest number inside at once
}

// stay is how long a holder stays inside if others may be inside, too.
const stay = 5 * time.Millisecond

func newLockChecker(capacity int) *lockChecker {
	c := &lockChecker{capacity: capacity}
	c.mu.inside = map[io.Writer]int{}
	c.mu.stats.entered = map[language]int{}
	return c
}

// openLockChecker returns a checker that is closed at the end of the test. It
// fails the test if anything was wrong.
func openLockChecker(t *testing.T, capacity int) *lockChecker {
	t.Helper()
	c := newLockChecker(capacity)
	t.Cleanup(func() { require.Empty(t, c.mu.wrong) })
	c.addr = serveLines(t, c.answer, func(io.Writer) {})
	return c
}

func (c *lockChecker) answer(from io.Writer, line string) string {
	verdict := c.judge(from, line)
	if c.capacity > 1 && line != "leave" {
		time.Sleep(stay) // so that several holders are inside
	}
	return verdict
}

func (c *lockChecker) judge(from io.Writer, line string) string {
	var who language
	var token int64
	var weight int
	c.mu.Lock()
	defer c.mu.Unlock()
	verdict := "ok"
	if line == "leave" {
		if c.mu.inside[from] == 0 {
			verdict = "left, but was not inside"
		}
		delete(c.mu.inside, from)
	} else if _, err := fmt.Sscanf(line, "enter %s %d %d", &who, &token, &weight); err != nil {
		verdict = fmt.Sprintf("%q: %v", line, err)
	} else {
		verdict = c.enter(from, who, token, weight)
	}
	if verdict != "ok" {
		c.mu.wrong = append(c.mu.wrong, verdict)
	}
	return verdict
}

// enter must be called with mu held.
func (c *lockChecker) enter(from io.Writer, who language, token int64, weight int) string {
	last, smaller := c.mu.last, c.mu.alone
	if weight == c.capacity {
		smaller = c.mu.token
		c.mu.alone = token
	}
	c.mu.inside[from] = weight
	c.mu.token, c.mu.last = max(c.mu.token, token), who
	c.mu.stats.entered[who]++
	if last != who && last != "" {
		c.mu.stats.crossing++
	}
	c.mu.stats.most = max(c.mu.stats.most, len(c.mu.inside))
	sum := 0
	for _, w := range c.mu.inside {
		sum += w
	}
	switch {
	case sum > c.capacity:
		return fmt.Sprintf("%s entered with token %d and weight %d: now there are %d of %d inside",
			who, token, weight, sum, c.capacity)
	case token <= smaller:
		return fmt.Sprintf("%s entered with token %d after one with %d", who, token, smaller)
	}
	return "ok"
}

func (c *lockChecker) tally() tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	stats := c.mu.stats
	stats.entered = maps.Clone(stats.entered)
	return stats
}
