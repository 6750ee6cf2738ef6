package datatree

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestACLMatching(t *testing.T) {
	ip := []wire.ID{{Scheme: "ip", ID: "10.1.2.3"}}
	for _, tc := range []struct {
		acl  wire.ID
		want bool
	}{
		{Anyone, true}, {wire.ID{Scheme: "ip", ID: "10.1.2.3"}, true}, {wire.ID{Scheme: "ip", ID: "10.1.2.4"}, false},
		{wire.ID{Scheme: "ip", ID: "10.0.0.0/8"}, true}, {wire.ID{Scheme: "ip", ID: "11.0.0.0/8"}, false}, {DigestID("a:b"), false},
	} {
		require.Equal(t, tc.want, Permitted([]wire.ACL{{Perms: wire.PermRead, ID: tc.acl}}, ip, wire.PermRead), "%v", tc.acl)
		require.False(t, Permitted([]wire.ACL{{Perms: wire.PermRead, ID: tc.acl}}, ip, wire.PermWrite), "%v", tc.acl)
	}
	require.True(t, Permitted(nil, nil, wire.PermAdmin), "no ACL at all is open")
}
