package curatorz

import (
	"testing"

	"github.com/gocurator/curator/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
