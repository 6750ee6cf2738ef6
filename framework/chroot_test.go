package framework_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// journal is a log that a test can read.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }
func (j *journal) WithAttrs([]slog.Attr) slog.Handler               { return j }
func (j *journal) WithGroup(string) slog.Handler                    { return j }

func (j *journal) Handle(_ context.Context, r slog.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	line := r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	j.lines = append(j.lines, line)
	return nil
}

// warnings returns the lines so far.
func (j *journal) warnings() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.lines...)
}

// A mistyped chroot is a tree of its own, in which locks exclude nobody.
func TestChrootThatIsMadeIsToldToTheLog(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		open := func() (*framework.Client, *journal) {
			j := &journal{}
			c, err := framework.New(srv.Addr()+"/shop/eu", framework.WithDialer(srv.Dialer()), framework.WithLogger(slog.New(j)))
			require.NoError(t, err)
			t.Cleanup(func() { c.Close() })
			return c, j
		}
		c, j := open()
		mustCreate(t, c, "/a", "")
		mustCreate(t, c, "/locks/b", "", framework.WithParents())
		synctest.Wait() // the log has a goroutine of its own
		require.Equal(t, []string{"zookeeper chroot did not exist and was created chroot=/shop/eu"}, j.warnings())

		c, j = open()
		mustCreate(t, c, "/c", "")
		view, err := c.Namespace("/n")
		require.NoError(t, err)
		mustCreate(t, view, "/d", "")
		synctest.Wait()
		require.Empty(t, j.warnings(), "it was there, and a namespace is no chroot")
	})
}

func (j *journal) option() framework.Option { return framework.WithLogger(slog.New(j)) }
