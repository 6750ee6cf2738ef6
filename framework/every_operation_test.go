package framework_test

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
)

// everyOperation returns each of a client's operations, by name, as a function of a
// path that must exist and have no children. A created node is a child named "new", or
// has a unique name if it is protected.
func everyOperation(c *framework.Client) map[string]func(ctx context.Context, path string) error {
	child := func(path string) string {
		if framework.ValidatePath(path) != nil {
			return path
		}
		return path + "/new"
	}
	create := func(opts ...framework.CreateOption) func(context.Context, string) error {
		return func(ctx context.Context, path string) error {
			_, err := c.Create(ctx, child(path), nil, opts...)
			return err
		}
	}
	setACL := func(version int32) func(context.Context, string) error {
		return func(ctx context.Context, path string) error {
			_, err := c.SetACL(ctx, path, zk.WorldACL(zk.PermAll), version)
			return err
		}
	}
	remove := func(version int32, opts ...framework.DeleteOption) func(context.Context, string) error {
		return func(ctx context.Context, path string) error { return c.Delete(ctx, path, version, opts...) }
	}
	transaction := func(ops func(path string) []framework.TxnOp) func(context.Context, string) error {
		return func(ctx context.Context, path string) error {
			_, err := c.Transaction(ctx, ops(path)...)
			return err
		}
	}
	stopped := func(w *framework.Watch) {
		if w != nil {
			w.Stop()
		}
	}
	return map[string]func(context.Context, string) error{
		"get": func(ctx context.Context, path string) error { _, _, err := c.Get(ctx, path); return err },
		"getW": func(ctx context.Context, path string) error {
			_, _, w, err := c.GetW(ctx, path)
			stopped(w)
			return err
		},
		"exists": func(ctx context.Context, path string) error { _, _, err := c.Exists(ctx, path); return err },
		"existsW": func(ctx context.Context, path string) error {
			_, _, w, err := c.ExistsW(ctx, path)
			stopped(w)
			return err
		},
		"children": func(ctx context.Context, path string) error { _, _, err := c.Children(ctx, path); return err },
		"childrenW": func(ctx context.Context, path string) error {
			_, _, w, err := c.ChildrenW(ctx, path)
			stopped(w)
			return err
		},
		"multiRead": func(ctx context.Context, path string) error {
			_, _, err := insider.Of(c).MultiRead(ctx, path)
			return err
		},
		"watch": func(ctx context.Context, path string) error {
			w, err := c.NewWatcher(ctx, path)
			if err == nil {
				w.Close()
			}
			return err
		},
		"watch recursive": func(ctx context.Context, path string) error {
			w, err := c.NewWatcher(ctx, path, framework.WithRecursion())
			if err == nil {
				w.Close()
			}
			return err
		},
		"sync": func(ctx context.Context, path string) error { return c.Sync(ctx, path) },
		"set": func(ctx context.Context, path string) error {
			_, err := c.Set(ctx, path, []byte("x"), framework.AnyVersion)
			return err
		},
		"set version": func(ctx context.Context, path string) error {
			_, err := c.Set(ctx, path, []byte("x"), 0)
			return err
		},
		"getACL":                     func(ctx context.Context, path string) error { _, _, err := c.GetACL(ctx, path); return err },
		"setACL":                     setACL(framework.AnyVersion),
		"setACL version":             setACL(0),
		"delete":                     remove(framework.AnyVersion),
		"delete version":             remove(0),
		"delete guaranteed":          remove(framework.AnyVersion, framework.WithGuarantee()),
		"delete begun guaranteed":    func(ctx context.Context, path string) error { return insider.Of(c).BeginDelete(ctx, path)() },
		"delete children":            remove(framework.AnyVersion, framework.WithChildren()),
		"delete children guaranteed": remove(framework.AnyVersion, framework.WithChildren(), framework.WithGuarantee()),
		"transaction of checks": transaction(func(path string) []framework.TxnOp {
			return []framework.TxnOp{framework.CheckOp(path, 0)}
		}),
		"transaction": transaction(func(path string) []framework.TxnOp {
			return []framework.TxnOp{framework.CheckOp(path, 0), framework.CreateOp(child(path), nil)}
		}),
		"transaction repeated": transaction(func(path string) []framework.TxnOp {
			return []framework.TxnOp{framework.CheckOp(path, framework.AnyVersion), framework.SetOp(path, []byte("x"), framework.AnyVersion)}
		}),
		"transaction version": transaction(func(path string) []framework.TxnOp {
			return []framework.TxnOp{framework.SetOp(path, []byte("x"), 0), framework.CreateOp(child(path), nil)}
		}),
		"create or set":             create(framework.WithOverwrite(framework.AnyVersion)),
		"create or set version":     create(framework.WithOverwrite(0)),
		"create idempotent":         create(framework.WithIdempotence()),
		"create persistent parents": create(framework.WithPersistentParents()),
		"create":                    create(),
		"create ephemeral":          create(framework.WithMode(framework.Ephemeral)),
		"create container":          create(framework.WithMode(framework.Container)),
		"create parents":            create(framework.WithParents()),
		"create protected":          create(framework.WithProtection(), framework.WithParents(), framework.WithMode(framework.EphemeralSequential)),
	}
}
