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

// register is what the lock guards. It knows nothing of ZooKeeper: whoever holds the lock says "enter LANGUAGE TOKEN WEIGHT"
// and "leave" on a TCP connection of its own, and is answered "ok", or told what is wrong. Those inside may have no more
// weight than its capacity. Who has all of it is alone: tokens grow from it, and to it.
type register struct {
	capacity int
	addr     string

	mu struct {
		sync.Mutex
		inside map[io.Writer]int // the weights of the connections that have entered
		alone  int64             // the largest token of those who were alone
		token  int64             // the largest of all
		last   language
		stats  tally
		wrong  []string
	}
}

// tally counts what has happened at the register.
type tally struct {
	entered  map[language]int
	crossing int // one language entered after the other
	most     int // inside at once
}

// stay is how long those stay who may be inside with others.
const stay = 5 * time.Millisecond

func newRegister(capacity int) *register {
	r := &register{capacity: capacity}
	r.mu.inside = map[io.Writer]int{}
	r.mu.stats.entered = map[language]int{}
	return r
}

// openRegister returns a register that is closed at the end of the test, and fails it if anything was wrong.
func openRegister(t *testing.T, capacity int) *register {
	t.Helper()
	r := newRegister(capacity)
	t.Cleanup(func() { require.Empty(t, r.mu.wrong) })
	r.addr = serveLines(t, r.answer, func(io.Writer) {})
	return r
}

func (r *register) answer(from io.Writer, line string) string {
	verdict := r.judge(from, line)
	if r.capacity > 1 && line != "leave" {
		time.Sleep(stay) // so that it gets full
	}
	return verdict
}

func (r *register) judge(from io.Writer, line string) string {
	var who language
	var token int64
	var weight int
	r.mu.Lock()
	defer r.mu.Unlock()
	verdict := "ok"
	if line == "leave" {
		if r.mu.inside[from] == 0 {
			verdict = "left, but was not inside"
		}
		delete(r.mu.inside, from)
	} else if _, err := fmt.Sscanf(line, "enter %s %d %d", &who, &token, &weight); err != nil {
		verdict = fmt.Sprintf("%q: %v", line, err)
	} else {
		verdict = r.enter(from, who, token, weight)
	}
	if verdict != "ok" {
		r.mu.wrong = append(r.mu.wrong, verdict)
	}
	return verdict
}

// enter must be called with mu held.
func (r *register) enter(from io.Writer, who language, token int64, weight int) string {
	last, smaller := r.mu.last, r.mu.alone
	if weight == r.capacity {
		smaller = r.mu.token
		r.mu.alone = token
	}
	r.mu.inside[from] = weight
	r.mu.token, r.mu.last = max(r.mu.token, token), who
	r.mu.stats.entered[who]++
	if last != who && last != "" {
		r.mu.stats.crossing++
	}
	r.mu.stats.most = max(r.mu.stats.most, len(r.mu.inside))
	sum := 0
	for _, w := range r.mu.inside {
		sum += w
	}
	switch {
	case sum > r.capacity:
		return fmt.Sprintf("%s entered with token %d and weight %d: now there are %d of %d inside", who, token, weight, sum, r.capacity)
	case token <= smaller:
		return fmt.Sprintf("%s entered with token %d after one with %d", who, token, smaller)
	}
	return "ok"
}

func (r *register) tally() tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	stats := r.mu.stats
	stats.entered = maps.Clone(stats.entered)
	return stats
}
