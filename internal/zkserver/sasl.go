package zkserver

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// WithSASLUsers makes the server authenticate users, passwords by names, by SASL with
// DIGEST-MD5, and accept the scheme sasl in access control lists.
func WithSASLUsers(tb TB, users map[string]string) Option {
	tb.Helper()
	var b strings.Builder
	b.WriteString("Server {\n  org.apache.zookeeper.server.auth.DigestLoginModule required")
	for _, name := range slices.Sorted(maps.Keys(users)) {
		fmt.Fprintf(&b, "\n  user_%s=%s", name, jaasString(users[name]))
	}
	b.WriteString(";\n};\n")
	return WithJAAS(tb, b.String())
}

// WithJAAS starts the server with a JAAS file, and makes it accept the scheme sasl in
// access control lists.
func WithJAAS(tb TB, text string) Option {
	tb.Helper()
	file, err := os.CreateTemp("", "zkserver-*.jaas")
	if err == nil {
		tb.Cleanup(func() { os.Remove(file.Name()) })
		_, err = file.WriteString(text)
		file.Close()
	}
	if err != nil {
		tb.Fatalf("zkserver: JAAS file: %v", err)
		return nil
	}
	return WithJVMFlags("-Djava.security.auth.login.config="+file.Name(),
		"-Dzookeeper.authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider")
}

func jaasString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
