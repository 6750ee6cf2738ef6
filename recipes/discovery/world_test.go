package discovery_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/discovery"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

const base = "/services"

func onFakeAndReal(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	recipetest.OnFakeAndReal(t, func(t *testing.T, w *recipetest.World) { scenario(t, &world{w}) })
}

func inVirtualTime(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) { scenario(t, &world{w}) })
}

type world struct{ *recipetest.World }

// plain is a small format, so that these tests do not depend on the format of another
// system.
type plain struct{}

type plainNode struct {
	Address  string
	Port     int
	Drains   bool
	Metadata map[string]string
}

func (plain) Dir(service string) (string, error) {
	if service == "" {
		return "", errors.New("no service")
	}
	return "/" + service, nil
}

func (plain) Service(dir string) (string, bool) {
	service := strings.TrimPrefix(dir, "/")
	return service, service != ""
}

func (plain) Encode(i discovery.Instance) (string, []byte, error) {
	if i.Port < 0 {
		return "", nil, errors.New("negative port")
	}
	data, err := json.Marshal(plainNode{i.Address, i.Port, i.Disabled, i.Metadata})
	return i.ID, data, err
}

func (plain) Decode(service, name string, data []byte) (i discovery.Instance, err error) {
	if len(data) == 0 {
		return i, fmt.Errorf("%w: it is empty", discovery.ErrNotInstance)
	}
	var n plainNode
	err = json.Unmarshal(data, &n)
	return discovery.Instance{
		Service: service, ID: name, Address: n.Address, Port: n.Port, Disabled: n.Drains, Metadata: n.Metadata,
	}, err
}

// replica is an instance of the service orders.
func replica(id string, port int) discovery.Instance {
	return discovery.Instance{Service: "orders", ID: id, Address: "10.0.0.7", Port: port}
}

// data returns what the node of an instance says.
func data(t *testing.T, i discovery.Instance) []byte {
	t.Helper()
	_, data, err := plain{}.Encode(i)
	require.NoError(t, err)
	return data
}

// register returns a registration that is shut down at the end of the test, if
// the test does not do that.
func register(
	t *testing.T, c *framework.Client, i discovery.Instance, opts ...discovery.RegistrationOption,
) *discovery.Registration {
	t.Helper()
	r, err := discovery.NewRegistration(c, base, plain{}, i, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { r.Shutdown(over()) })
	return r
}

// over returns a context that has ended.
func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// registered is register, and waits.
func (w *world) registered(
	t *testing.T, c *framework.Client, i discovery.Instance, opts ...discovery.RegistrationOption,
) *discovery.Registration {
	t.Helper()
	r := register(t, c, i, opts...)
	_, err := r.WaitRegistered(w.Patience(t))
	require.NoError(t, err)
	return r
}

// directory returns a directory of the service orders that is filled.
func (w *world) directory(t *testing.T, c *framework.Client, opts ...discovery.DirectoryOption) *discovery.Directory {
	t.Helper()
	d, err := discovery.NewDirectory(c, base, plain{}, "orders", opts...)
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	require.NoError(t, d.WaitSynced(w.Patience(t)))
	return d
}

// follow collects the changes of a directory as text. In a bubble, call
// synctest.Wait before the returned function, which returns what is new.
func follow(t *testing.T, d *discovery.Directory) (news func() []string) {
	t.Helper()
	changes := make(chan string, 10_000)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ch, err := range d.Changes(ctx) {
			changes <- text(ch, err)
		}
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return func() (list []string) {
		for {
			select {
			case ch := <-changes:
				list = append(list, ch)
			default:
				return list
			}
		}
	}
}

func text(ch discovery.Change, err error) string {
	switch {
	case err != nil:
		return "end"
	case ch.New != nil:
		return ch.Type.String() + " " + name(ch.New)
	case ch.Old != nil:
		return ch.Type.String() + " " + name(ch.Old)
	case ch.Bad != nil:
		return ch.Type.String() + " " + ch.Bad.ID
	}
	return ch.Type.String()
}

func name(e *discovery.Entry) string {
	s := fmt.Sprint(e.ID, ":", e.Port)
	if e.Disabled {
		s += " drains"
	}
	return s
}

// names returns what a directory has.
func names(d *discovery.Directory) (list []string) {
	for _, e := range d.Snapshot().Entries {
		list = append(list, name(e))
	}
	return list
}

// settle lets some virtual time pass, which is shorter than the removal grace.
func settle() {
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
}

// passGrace lets the default removal grace pass.
func passGrace() {
	time.Sleep(2 * time.Second)
	synctest.Wait()
}
