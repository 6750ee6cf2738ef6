package discovery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

func TestHostPortOfAnInstance(t *testing.T) {
	for want, i := range map[string]discovery.Instance{
		"10.0.0.7:80": {Address: "10.0.0.7", Port: 80, TLSPort: 443},
		"shop:443":    {Address: "shop", TLSPort: 443},
		"[::1]:80":    {Address: "::1", Port: 80},
		"::1":         {Address: "::1"},
		"":            {Port: 80},
	} {
		require.Equal(t, want, i.HostPort())
	}
}
