package main

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// Two of four workers pack at two tables. Only the orders of the worker that crashes
// change hands, and each order is packed once.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		require.NoError(t, run(t.Context(), zktest.Start(t), &out))
		victim := regexp.MustCompile(`(\w+) crashes`).FindStringSubmatch(out.String())[1]
		require.Regexp(t, `^Four workers have joined\. The barrier falls\.
\w+ and \w+ pack, at two tables\. \w+ crashes\. There are two more tables\.
(\w+ has packed order \d\d instead of `+victim+`\.\n){3,}24 orders have 24 invoices\.
$`, out.String())
	})
}
