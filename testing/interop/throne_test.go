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

// throne is what leaders may be on one at a time. It knows nothing of ZooKeeper: whoever leads says "enter ID TOKEN" on a
// TCP connection of its own, is answered, and hangs up when it does not lead any more.
//
// Whose session the test ends on the server cannot know in time that it does not lead any more, and is deposed before
// that: what it says with its token is refused from then on, and keeps nobody from the throne. That is all that a fencing
// token can do, and all that must be done. Everybody else has to be gone before the next one comes.
type throne struct {
	addr string

	mu struct {
		sync.Mutex
		on      io.Writer // the connection of who is on it, or nil
		id      string    // of the last one
		token   int64     // likewise; the largest of all
		deposed map[int64]bool
		changed chan struct{} // closed at the next ascent
		ascents map[language]int
		wrong   []string
		over    bool // what happens from now on does not matter
	}
}

func newThrone() *throne {
	th := &throne{}
	th.mu.deposed, th.mu.ascents = map[int64]bool{}, map[language]int{}
	th.mu.changed = make(chan struct{})
	return th
}

// openThrone returns a throne that is there until the end of the test, and fails it if anything was wrong.
func openThrone(t *testing.T) *throne {
	t.Helper()
	th := newThrone()
	t.Cleanup(func() { require.Empty(t, th.mu.wrong) })
	th.addr = serveLines(t, th.judge, th.leave)
	return th
}

func (th *throne) judge(from io.Writer, line string) string {
	var id string
	var token int64
	_, err := fmt.Sscanf(line, "enter %s %d", &id, &token)
	th.mu.Lock()
	defer th.mu.Unlock()
	var verdict string
	switch {
	case err != nil:
		verdict = fmt.Sprintf("%q: %v", line, err)
	case th.mu.deposed[token]:
		return "deposed"
	default:
		verdict = th.ascend(from, id, token)
	}
	if verdict != "ok" && !th.mu.over {
		th.mu.wrong = append(th.mu.wrong, verdict)
	}
	return verdict
}

// ascend must be called with mu held. The same leader may come again, after an interruption.
func (th *throne) ascend(from io.Writer, id string, token int64) string {
	lastID, lastToken, occupied := th.mu.id, th.mu.token, th.mu.on != nil
	if token < lastToken {
		return fmt.Sprintf("%s leads with token %d after %s with %d", id, token, lastID, lastToken)
	}
	th.mu.on, th.mu.id, th.mu.token = from, id, token
	th.mu.ascents[languageOf(id)]++
	close(th.mu.changed)
	th.mu.changed = make(chan struct{})
	if occupied {
		return fmt.Sprintf("%s leads with token %d beside %s with %d", id, token, lastID, lastToken)
	}
	return "ok"
}

func (th *throne) leave(from io.Writer) {
	th.mu.Lock()
	defer th.mu.Unlock()
	if th.mu.on == from {
		th.mu.on = nil
	}
}

// depose takes one from the throne, who is going to lose its session without a chance to know.
func (th *throne) depose(token int64) {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.mu.deposed[token] = true
	if th.mu.token == token {
		th.mu.on = nil
	}
}

// ascents returns how often there was a leader of each language.
func (th *throne) ascents() map[language]int {
	th.mu.Lock()
	defer th.mu.Unlock()
	return maps.Clone(th.mu.ascents)
}

// abolish ends all judgement.
func (th *throne) abolish() {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.mu.over = true
}

// await waits for somebody on the throne who has a larger token.
func (th *throne) await(ctx context.Context, after int64) (id string, token int64, err error) {
	for {
		th.mu.Lock()
		id, token, changed, occupied := th.mu.id, th.mu.token, th.mu.changed, th.mu.on != nil
		th.mu.Unlock()
		if occupied && token > after {
			return id, token, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", 0, fmt.Errorf("nobody leads after %s with token %d: %w", id, token, ctx.Err())
		}
	}
}

// sit is on the throne until ctx ends.
func (th *throne) sit(ctx context.Context, id string, token int64) error {
	nc, err := net.Dial("tcp", th.addr)
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
	_, err = io.Copy(io.Discard, answers) // the other side hangs up when it knows
	return err
}

// languageOf returns the language of a candidate, whose id begins with it.
func languageOf(id string) language {
	name, _, _ := strings.Cut(id, "-")
	return language(name)
}

// Two who lead at once are noticed: the tests with a throne can fail.
func TestThroneObjects(t *testing.T) {
	th := newThrone()
	one, two := &strings.Builder{}, &strings.Builder{}
	require.Equal(t, "ok", th.judge(one, "enter Go-1 5"))
	require.Equal(t, "Java-1 leads with token 6 beside Go-1 with 5", th.judge(two, "enter Java-1 6"))
	require.Equal(t, "Go-1 leads with token 5 after Java-1 with 6", th.judge(one, "enter Go-1 5"))
	th.leave(one)
	require.Equal(t, "Go-1 leads with token 7 beside Java-1 with 6", th.judge(one, "enter Go-1 7"), "another one has left")
	th.leave(one)
	require.Equal(t, "ok", th.judge(one, "enter Go-1 7"), "after an interruption")
	th.depose(7)
	require.Equal(t, "ok", th.judge(two, "enter Java-1 8"))
	require.Equal(t, "deposed", th.judge(one, "enter Go-1 7"))
	require.Len(t, th.mu.wrong, 3)
	require.Equal(t, map[language]int{inGo: 3, inJava: 2}, th.ascents())
}
