//go:build real

package kerberos_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/sasl"
)

// kdc is a private KDC of MIT Kerberos, which serves by TCP alone.
type kdc struct {
	t       *testing.T
	dir     string
	address string
	running *exec.Cmd // or nil
	stdin   io.Closer // of running
}

const (
	realm    = "ONE.EXAMPLE"
	allTypes = "aes256-cts-hmac-sha1-96 aes128-cts-hmac-sha1-96 aes256-cts-hmac-sha384-192 aes128-cts-hmac-sha256-128 arcfour-hmac"
)

// startKDC starts a KDC with two realms, which trust each other. $KRB5_CONFIG has its
// address until the test ends, and files of the KDC are in its folder.
func startKDC(t *testing.T) *kdc {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	k := &kdc{t: t, dir: t.TempDir(), address: listener.Addr().String()}
	require.NoError(t, listener.Close())
	k.configure(allTypes, k.address)
	k.write("kdc-krb5.conf", krb5Conf(allTypes, k.address))
	realms := ""
	for _, r := range []string{realm, "TWO.EXAMPLE"} {
		realms += fmt.Sprintf("%[1]s = {\n database_name = %[2]s/%[1]s\n key_stash_file = %[2]s/%[1]s.stash\n supported_enctypes = %[3]s\n}\n", r, k.dir, allTypes)
	}
	k.write("kdc.conf", fmt.Sprintf("[kdcdefaults]\nkdc_listen = \"\"\nkdc_tcp_listen = %s\n[realms]\n%s[logging]\nkdc = FILE:%s/log\n", k.address, realms, k.dir))
	t.Setenv("KRB5_CONFIG", k.path("krb5.conf"))
	t.Setenv("KRB5_KDC_PROFILE", k.path("kdc.conf"))
	for _, r := range []string{realm, "TWO.EXAMPLE"} {
		k.run("kdb5_util", "-r", r, "create", "-s", "-P", "master")
		k.admin(r, "addprinc -pw trust -e aes256-cts krbtgt/TWO.EXAMPLE@"+realm)
	}
	t.Cleanup(k.stop)
	k.start()
	return k
}

func (k *kdc) path(name string) string { return filepath.Join(k.dir, name) }

func (k *kdc) write(name, content string) {
	require.NoError(k.t, os.WriteFile(k.path(name), []byte(content), 0o600))
}

// configure has clients ask the KDCs at these addresses, for these encryption types, or for
// the default types. The KDC has a file that does not change, because it may read that a
// second late.
func (k *kdc) configure(types string, addresses ...string) {
	k.write("krb5.conf", krb5Conf(types, addresses...))
}

func krb5Conf(types string, addresses ...string) string {
	servers := " kdc = " + strings.Join(addresses, "\n kdc = ")
	if types != "" {
		types = fmt.Sprintf("default_tkt_enctypes = %[1]s\ndefault_tgs_enctypes = %[1]s\n"+
			"permitted_enctypes = %[1]s\n", types)
	}
	return fmt.Sprintf("[libdefaults]\ndefault_realm = %[1]s\nudp_preference_limit = 1\nrdns = false\nallow_rc4 = true\n%[3]s"+
		"[realms]\n%[1]s = {\n%[2]s\n}\nTWO.EXAMPLE = {\n%[2]s\n}\n", realm, servers, types)
}

// environ is the environment of the KDC and its tools.
func (k *kdc) environ() []string {
	return append(os.Environ(), "KRB5_CONFIG="+k.path("kdc-krb5.conf"))
}

func (k *kdc) run(name string, args ...string) {
	k.t.Helper()
	command := exec.Command(name, args...)
	command.Env = k.environ()
	out, err := command.CombinedOutput()
	require.NoError(k.t, err, "%s: %s", name, out)
}

// admin runs a query of kadmin, which may fail without an error.
func (k *kdc) admin(realm, query string) {
	k.t.Helper()
	k.run("kadmin.local", "-r", realm, "-q", query)
}

// keytab makes a principal of the realm with keys of the types, and returns its keytab.
func (k *kdc) keytab(principal, realm, types string) string {
	k.t.Helper()
	path := k.path(strings.ReplaceAll(principal, "/", "_") + "@" + realm + ".keytab")
	k.admin(realm, fmt.Sprintf("addprinc +requires_preauth -randkey -e %q %s", types, principal))
	k.admin(realm, fmt.Sprintf("ktadd -k %s -norandkey %s", path, principal))
	require.FileExists(k.t, path)
	return path
}

func (k *kdc) start() {
	k.t.Helper()
	// The shell ends the KDC with its input, so that no KDC outlives the program.
	k.running = exec.Command("sh", "-c", "krb5kdc -n -r "+realm+" -r TWO.EXAMPLE & read -r _; kill $!; wait")
	k.running.Env = k.environ()
	var err error
	k.stdin, err = k.running.StdinPipe()
	require.NoError(k.t, err)
	out, err := k.running.StderrPipe()
	require.NoError(k.t, err)
	require.NoError(k.t, k.running.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(k.t, err)
	require.Contains(k.t, line, "starting", "the KDC listens")
}

func (k *kdc) stop() {
	if k.running != nil {
		_ = k.stdin.Close()
		_ = k.running.Wait() // by a signal
		k.running = nil
	}
}

// issued returns how many tickets the KDC has issued for a service.
func (k *kdc) issued(service string) int {
	log, err := os.ReadFile(k.path("log"))
	require.NoError(k.t, err)
	count := 0
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "ISSUE") && strings.Contains(line, " for "+service+"@") {
			count++
		}
	}
	return count
}

// classPath has Debian's Java Curator after the compiled classes.
const classPath = ":/usr/share/java/curator-recipes.jar:/usr/share/java/curator-x-discovery.jar" +
	":/usr/share/java/slf4j-simple.jar"

// compile compiles the program of testdata, and the client of Java Curator of
// testing/interop, once.
var compile = sync.OnceValue(func() (err error) {
	if classes, err = os.MkdirTemp("", "kerberos-"); err != nil {
		return err
	}
	sources, err := filepath.Glob("../../testing/interop/java/*.java")
	if err != nil {
		return err
	}
	args := append([]string{"-proc:none", "-d", classes, "-cp", classPath[1:], "testdata/SaslPeer.java"}, sources...)
	out, err := exec.Command("javac", args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("javac: %w: %s", err, out)
	}
	return err
})

// peer is a Java program, such as the JDK's GSSAPI server.
type peer struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
}

// startPeer starts the JDK's GSSAPI server.
func startPeer(t *testing.T, keytab, principal string, flags ...string) *peer {
	t.Helper()
	return startJava(t, flags, "SaslPeer", keytab, principal)
}

func startJava(t *testing.T, flags []string, program ...string) *peer {
	t.Helper()
	require.NoError(t, compile())
	flags = append(flags, "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
		"-Djava.security.krb5.conf="+os.Getenv("KRB5_CONFIG"), "-cp", classes+classPath)
	command := exec.Command("java", append(flags, program...)...)
	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	command.Stderr = os.Stderr
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = command.Wait() // it ends with its input
	})
	return &peer{t, in, bufio.NewScanner(out)}
}

// respond sends a response, and returns the challenge or what the server has decided.
func (p *peer) respond(response []byte) (challenge []byte, decision string) {
	p.t.Helper()
	fmt.Fprintln(p.in, base64.StdEncoding.EncodeToString(response))
	require.True(p.t, p.out.Scan(), "the JDK's server has ended")
	if line := p.out.Text(); strings.Contains(line, " ") {
		return nil, line
	}
	challenge, err := base64.StdEncoding.DecodeString(p.out.Text())
	require.NoError(p.t, err)
	return challenge, ""
}

// ask sends a command to a client of Java Curator, and requires the beginning of its answer.
func (p *peer) ask(want, command string) {
	p.t.Helper()
	fmt.Fprintln(p.in, "1", command)
	p.answer("1 " + want)
}

func (p *peer) answer(want string) {
	p.t.Helper()
	require.True(p.t, p.out.Scan(), "the program has ended")
	require.True(p.t, strings.HasPrefix(p.out.Text(), want), p.out.Text())
}

// complete plays an exchange until the server has decided.
func (p *peer) complete(exchange sasl.Exchange, response []byte) string {
	p.t.Helper()
	for done := false; ; {
		challenge, decision := p.respond(response)
		if decision != "" {
			require.Equal(p.t, strings.HasPrefix(decision, "OK "), done, decision)
			return decision
		}
		require.False(p.t, done)
		var err error
		response, done, err = exchange.Step(challenge)
		require.NoError(p.t, err)
	}
}
