package discovery

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/testing/zktest"
)

// Registers that fail, each with a different ID, leave nothing behind.
func TestRegistersThatFailAreForgotten(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		w.Fake.Inject(zktest.Rule{Op: zktest.OpCreate, Times: -1, Do: zktest.Fail(zktest.ErrNoAuth)})
		r := NewRegistrar(w.Observer, "/services", CuratorCodec())
		for n := range 20 {
			require.Error(t, r.Register(w.Patience(t), Instance{Service: "orders", ID: fmt.Sprint(n), Address: "a", Port: 1}))
		}
		require.Empty(t, r.kept)
	})
}

// dirPanics is a codec whose Dir panics once it may.
type dirPanics struct {
	Codec
	may chan struct{}
}

func (c dirPanics) Dir(string) (string, error) {
	<-c.may
	panic("Dir")
}

// A Register that waits for one whose codec panics is not registered.
func TestRegisterBehindACodecThatPanics(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		may := make(chan struct{})
		r := NewRegistrar(w.Observer, "/services", dirPanics{CuratorCodec(), may})
		i, first, second := Instance{Service: "orders", ID: "a"}, make(chan any, 1), make(chan error, 1)
		go func() {
			defer func() { first <- recover() }()
			_ = r.Register(w.Patience(t), i)
		}()
		synctest.Wait()
		go func() { second <- r.Register(w.Patience(t), i) }()
		synctest.Wait()
		close(may)
		require.Equal(t, "Dir", <-first)
		require.Error(t, <-second)
	})
}
