//go:build real

package demo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/testing/zktest"
)

// TestMain turns the test binary into a worker, if a test has started it as one.
func TestMain(m *testing.M) {
	BeforeTests(beThere)
	leaktest.Main(m)
}

// write leaves nodes on the servers, as a story may.
func write(ctx context.Context, stage Stage) error {
	_, err := stage.Client.Create(ctx, "/a/b", nil, framework.WithParents())
	io.WriteString(stage.Out, "written")
	return err
}

var errBroken = errors.New("broken")

func fail(context.Context, Stage) error { return errBroken }

func TestStatus(t *testing.T) {
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		story  Story
		args   []string
		status int
		out    string
		errs   string
	}{
		{"shown", t.Context(), write, nil, AsExpected, "written", ""},
		{"shown on an ensemble", t.Context(), write, []string{"-servers", srv.Addr()}, AsExpected, "written", ""},
		{"not shown", t.Context(), fail, nil, Failed, "", "demo: broken\n"},
		{"not shown on an ensemble", t.Context(), fail, []string{"-servers", srv.Addr()}, Failed, "", "demo: broken\n"},
		{"no server", t.Context(), write, []string{"-servers", "127.0.0.1:1", "-timeout", "100ms"}, Failed, "", errTimeout.Error()},
		{"interrupt", interrupted, write, nil, Failed, "", "canceled"},
		{"help", t.Context(), write, []string{"-h"}, AsExpected, "", "-servers"},
		{"unknown flag", t.Context(), write, []string{"-nonsense"}, BadInput, "", "-nonsense"},
		{"argument", t.Context(), write, []string{"more"}, BadInput, "", `"more"`},
		{"timeout", t.Context(), write, []string{"-timeout", "0s"}, BadInput, "", "-timeout"},
		{"connection string", t.Context(), write, []string{"-servers", "a:b:c"}, Failed, "", "a:b:c"},
	} {
		var out, errs bytes.Buffer
		status := Run(tt.ctx, "demo", tt.story, tt.args, &out, &errs)
		require.Equal(t, tt.status, status, "%s: %s", tt.name, &errs)
		require.Equal(t, tt.out, out.String(), tt.name)
		require.Contains(t, errs.String(), tt.errs, tt.name)
	}
	for _, node := range srv.Tree() {
		require.Contains(t, []string{"/examples", "/examples/demo"}, node.Path, "empty containers are all that is left")
	}
}
