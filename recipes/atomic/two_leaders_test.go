package atomic_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leadertest"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/testing/zktest"
)

// These tests lose the reply to a write. Then the client comes to a leader that
// has not applied the write, and that answers a sync all the same.

// A change is made once, or its outcome is unknown. It is no conflict.
func TestChangeIsNotMisledByALeader(t *testing.T) {
	for name, change := range map[string]func(ctx context.Context, c *framework.Client) (applied bool, err error){
		"add": func(ctx context.Context, c *framework.Client) (bool, error) {
			now, err := atomic.NewLong(c, "/n").Add(ctx, 1)
			return now == 2, err
		},
		"compare and swap": func(ctx context.Context, c *framework.Client) (bool, error) {
			return atomic.NewLong(c, "/n").CompareAndSwap(ctx, 1, 2)
		},
		"update": func(ctx context.Context, c *framework.Client) (bool, error) {
			now, err := atomic.NewLong(c, "/n").Update(ctx, func(old int64) (int64, error) { return old + 1, nil })
			return now == 2, err
		},
		"add with a receipt": func(ctx context.Context, c *framework.Client) (bool, error) {
			now, err := atomic.NewLong(c, "/n", atomic.WithReceipts("/receipts")).Add(ctx, 1)
			return now == 2, err
		},
		"compare and swap of a value": func(ctx context.Context, c *framework.Client) (bool, error) {
			return atomic.NewValue(c, "/n", codec.Bytes()).CompareAndSwap(ctx, bytesOf(1), bytesOf(2))
		},
	} {
		for _, op := range []zktest.Op{zktest.OpSetData, zktest.OpMulti} {
			t.Run(name+"/"+op.String(), func(t *testing.T) {
				one := func(t *testing.T, c *framework.Client) {
					_, err := c.Create(t.Context(), "/receipts", nil)
					require.NoError(t, err)
					require.NoError(t, atomic.NewLong(c, "/n").Store(t.Context(), 1))
				}
				leadertest.AtEach(t, one, func(t *testing.T, l *leadertest.LostReply) {
					l.Lose(op)
					applied, err := change(t.Context(), l.Client)
					if err == nil {
						require.True(t, applied)
					} else {
						require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
					}
					l.Nodes("/") // in the end
					n, _ := l.Front.Node("/n")
					require.Equal(t, bytesOf(2), n.Data)
				})
			})
		}
	}
}

func bytesOf(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
