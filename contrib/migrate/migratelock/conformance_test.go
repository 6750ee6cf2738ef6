package migratelock_test

import (
	"testing"

	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/database/stub"
	dt "github.com/golang-migrate/migrate/v4/database/testing"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/migrate/migratelock"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// golang-migrate's own test of drivers.
func TestConformance(t *testing.T) {
	client := curatortest.Connect(t, zktest.Start(t))
	driver, err := migratelock.Open(t.Context(), client, path, func() (database.Driver, error) {
		return new(stub.Stub).Open("")
	})
	require.NoError(t, err)
	dt.Test(t, driver, []byte("CREATE TABLE t (x INT)"))
	require.NoError(t, driver.Close())
}
