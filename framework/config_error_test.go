package framework_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A nil option, and a value that cannot be used, is a *ConfigError of the call
// that gets it: no panic, and no request.
func TestArgumentsThatCannotBeUsedAreConfigErrorsOfEveryOperation(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		ctx, acl := t.Context(), zk.WorldACL(zk.PermAll)
		create := func(opts ...framework.CreateOption) error {
			_, err := c.Create(ctx, "/n", nil, opts...)
			return err
		}
		transaction := func(op framework.TxnOp) error {
			_, err := c.Transaction(ctx, op)
			return err
		}
		setACL := func(list []zk.ACL) error {
			_, err := c.SetACL(ctx, "/n", list, 0)
			return err
		}
		for name, err := range map[string]error{
			"create, nil option":            create(nil),
			"create, mode":                  create(framework.WithMode(7)),
			"create, TTL without a mode":    create(framework.WithTTL(time.Second)),
			"create, mode without a TTL":    create(framework.WithMode(framework.PersistentTTL)),
			"create, empty ACL":             create(framework.WithACL(nil)),
			"create, empty ACL of parents":  create(framework.WithParents(), framework.WithParentACL(nil)),
			"create, ACL of no parents":     create(framework.WithParentACL(acl)),
			"create, options":               create(framework.WithOverwrite(0), framework.WithProtection()),
			"setACL, empty":                 setACL(nil),
			"delete, nil option":            c.Delete(ctx, "/n", 0, nil),
			"transaction, nil option":       transaction(framework.CreateOp("/n", nil, nil)),
			"transaction, option":           transaction(framework.CreateOp("/n", nil, framework.WithIdempotence())),
			"transaction, mode":             transaction(framework.CreateOp("/n", nil, framework.WithMode(-1))),
			"transaction, TxnOp of no kind": transaction(framework.TxnOp{}),
			"auth, no scheme":               c.AddAuth(ctx, "", nil),
			"auth, no password":             c.AddAuth(ctx, "digest", []byte("user")),
			"in session, nil function":      c.InSession(ctx, nil),
		} {
			var config *framework.ConfigError
			require.ErrorAs(t, err, &config, name)
			require.NotEmpty(t, config.Name, name)
			require.NotEmpty(t, config.Reason, name)
			require.ErrorIs(t, err, zk.ErrBadArguments, name)
			require.True(t, framework.IsRefusal(err), name)
		}
		require.ErrorIs(t, create(framework.WithMode(7)), zk.ErrInvalidFlags)
		require.ErrorIs(t, create(framework.WithACL(nil)), zk.ErrInvalidACL)
		require.ErrorIs(t, setACL(nil), zk.ErrInvalidACL)
		require.ErrorIs(t, transaction(framework.CreateOp("/", nil)), zk.ErrNodeExists)
		require.Empty(t, ops(srv), "nothing was sent")
	})
}
