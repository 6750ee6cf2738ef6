//go:build real

package databases

import (
	"bytes"
	"database/sql"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/fencesql"
)

// proxy is in front of the socket of a database server. It counts the server's answers.
type proxy struct {
	server  string // the server's socket
	answers atomic.Int64
	lose    atomic.Bool // the answer to the next fenced statement, with its connection
	all     sync.WaitGroup
}

// throughProxy returns a pool of connections to the same database.
func (w world) throughProxy(t *testing.T) (*proxy, *sql.DB) {
	start, name := postgresServer, ".s.PGSQL.5432"
	if w.dialect == fencesql.MySQL {
		start, name = mariaServer, "socket"
	}
	s, err := start()
	require.NoError(t, err)
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, name))
	require.NoError(t, err)
	p := &proxy{server: filepath.Join(s.dir, name)}
	p.all.Go(func() { p.accept(listener) })
	db, err := sql.Open(w.driver, strings.Replace(w.dsn, s.dir, dir, 1))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, db.Close())
		require.NoError(t, listener.Close())
		p.all.Wait()
	})
	return p, db
}

func (p *proxy) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		var lost atomic.Bool
		p.all.Go(func() {
			copyEach(server, client, func(request []byte) bool {
				if bytes.Contains(request, []byte(token(0).Path())) && p.lose.CompareAndSwap(true, false) {
					lost.Store(true)
				}
				return true
			})
		})
		p.all.Go(func() {
			copyEach(client, server, func([]byte) bool {
				p.answers.Add(1)
				return !lost.Load()
			})
		})
	}
}

// copyEach copies until one of the connections ends, or pass returns false. It then
// closes both.
func copyEach(to, from net.Conn, pass func([]byte) bool) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if err != nil || !pass(buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// Promise: a write whose answer was lost after the server had executed it is not
// repeated.
func TestWriteWhoseAnswerIsLostIsAppliedOnce(t *testing.T) {
	onEach(t, func(t *testing.T, k kind) {
		if k.dialect == fencesql.SQLite {
			return // it has no connection
		}
		ctx, w := within(t), newWorld(t, k)
		p, db := w.throughProxy(t)
		for _, way := range w.having(fenced) {
			if way.name != "update" && way.name != "exec" {
				continue
			}
			p.lose.Store(true)
			through := w
			through.db = db
			require.Error(t, way.write(ctx, through, lease{token(5), func() {}}), way.name)
			require.False(t, p.lose.Load(), way.name)
		}
		require.EqualValues(t, 0, w.number(t, "SELECT count(*) FROM ledger WHERE token <> 5"))
		require.LessOrEqual(t, w.number(t, "SELECT count(*) FROM ledger"), int64(1))
	})
}

// Promise: on Postgres and MySQL, a fenced Update takes as many round trips as the same
// statement without a fence, and so does Exec on Postgres.
func TestFenceCostsNoRoundTrip(t *testing.T) {
	onEach(t, func(t *testing.T, k kind) {
		if k.dialect == fencesql.SQLite {
			return // it has no connection
		}
		ctx, w := within(t), newWorld(t, k)
		p, db := w.throughProxy(t)
		db.SetMaxOpenConns(1)
		require.NoError(t, db.Ping())
		answers := func(write func() error) int64 {
			before := p.answers.Load()
			require.NoError(t, write())
			return p.answers.Load() - before
		}
		plain := answers(func() error {
			_, err := db.ExecContext(ctx, w.text("UPDATE register SET value = $1 WHERE id = $2"), "plain", 1)
			return err
		})
		require.Equal(t, plain, answers(func() error {
			return w.registers().Update(ctx, db, token(5), 1, w.text("value = $1"), "fenced")
		}))
		require.Equal(t, plain, answers(func() error {
			return w.registers().Update(ctx, db, token(5), 1, w.text("value = $1"), "fenced")
		}), "of the same values")
		if k.dialect == fencesql.Postgres {
			require.Equal(t, plain, answers(func() error {
				_, err := w.guards().Exec(ctx, db, token(5), "ledger", addToLedger, 5)
				return err
			}))
		}
	})
}
