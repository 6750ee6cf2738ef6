package gooselock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/pressly/goose/v3/lock"
	"github.com/pressly/goose/v3/lock/locktesting"

	"github.com/gocurator/curator/contrib/migrate/gooselock"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const path = "/migrations/orders"

// goose's own test of lockers. It makes no request to the database.
func TestConformance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := curatortest.Connect(t, zktest.Start(t))
		locktesting.TestConcurrentLocking(t, nil, func(*testing.T) lock.Locker { return gooselock.New(client, path) }, time.Second)
	})
}
