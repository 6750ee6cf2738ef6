package discovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/discovery"
)

// A conflict says where the other instance listens, if that is known.
func TestTextOfAConflict(t *testing.T) {
	for says, want := range map[string]string{
		"garbage":                               "another instance has the ID: ",
		`{"address":"10.0.0.8","port":8080}`:    `an instance at "10.0.0.8", port 8080, has the ID: `,
		`{"address":"10.0.0.8","sslPort":8443}`: `an instance at "10.0.0.8", port 8443, has the ID: `,
	} {
		inVirtualTime(t, func(t *testing.T, w *world) {
			require.NoError(t, w.Fake.Create(base+"/orders/a", []byte(says)))
			i := replica("a", 1)
			r, err := discovery.NewRegistration(w.Observer, base, discovery.CuratorCodec(), i)
			require.NoError(t, err)
			defer r.Shutdown(over())
			_, err = r.WaitRegistered(recipetest.Within(t, time.Minute))
			var conflict *discovery.ConflictError
			require.ErrorAs(t, err, &conflict)
			require.ErrorContains(t, conflict, want)
		})
	}
}
