package framework_test

import (
	"context"

	"github.com/gocurator/curator/framework"
)

// everyOperation returns each of a client's operations, by name, as a function of a path that is to exist and have no
// children. What is created is a child named "new", or has a name of its own if it is protected.
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
		"sync": func(ctx context.Context, path string) error { return c.Sync(ctx, path) },
		"set": func(ctx context.Context, path string) error {
			_, err := c.Set(ctx, path, []byte("x"), framework.AnyVersion)
			return err
		},
		"set version": func(ctx context.Context, path string) error {
			_, err := c.Set(ctx, path, []byte("x"), 0)
			return err
		},
		"delete":         func(ctx context.Context, path string) error { return c.Delete(ctx, path, framework.AnyVersion) },
		"delete version": func(ctx context.Context, path string) error { return c.Delete(ctx, path, 0) },
		"delete guaranteed": func(ctx context.Context, path string) error {
			return c.Delete(ctx, path, framework.AnyVersion, framework.Guaranteed())
		},
		"create":           create(),
		"create ephemeral": create(framework.WithMode(framework.Ephemeral)),
		"create container": create(framework.WithMode(framework.Container)),
		"create parents":   create(framework.WithParents()),
		"create protected": create(framework.Protected(), framework.WithParents(), framework.WithMode(framework.EphemeralSequential)),
	}
}
