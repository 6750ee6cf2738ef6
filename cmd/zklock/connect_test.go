package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// Credentials are what the file says: a byte order mark is not of the scheme,
// and blanks at the end are of the password.
func TestAuthFileIsReadToTheByte(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t, framework.WithAuth("digest", []byte("joe:secret \t")))
		_, err := c.Create(t.Context(), "/private", nil, framework.WithACL(zk.DigestACL(zk.PermAll, "joe", "secret \t")))
		require.NoError(t, err)
		auth := filepath.Join(t.TempDir(), "auth")
		for text, want := range map[string]string{
			"digest:joe:secret \t":                               "free",
			"\ufeff# joe's\r\n\r\n  digest:joe:secret \t\r\n \n": "free",
			"\ufeffdigest:joe:secret \t\n":                       "free",
			"digest:joe:secret":                                  "unreadable",
		} {
			require.NoError(t, os.WriteFile(auth, []byte(text), 0o600))
			got := s.zklock(t, "--auth-file", auth, "show", "/private")
			require.Zero(t, got.status, got.err)
			require.Contains(t, got.out, "/private  "+want, "%q", text)
		}
	})
}
