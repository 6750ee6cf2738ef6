package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestStory(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out))
	t.Log(out.String())
	require.Regexp(t, `^No greeter is registered yet\.
  web is told: .*rpc error: code = Unavailable desc = .*service "greeter" below "/services": no instance is registered
oslo and paris start\.
  web is greeted by: oslo, paris
paris drains\.
  web is greeted by: oslo
rome starts\.
  web is greeted by: oslo, rome
oslo is killed\.
  web is greeted by: rome
No call has failed\.
$`, out.String())
}
