//go:build go1.26

package explore

import (
	"testing"
	"testing/cryptotest"
)

func seedNames(t *testing.T) { cryptotest.SetGlobalRandom(t, 1) }
