// Package zkserver starts real Apache ZooKeeper servers for tests: a single
// server or an ensemble. Use it to show that a promise holds against the server
// that people run, which an in-process fake cannot show. Tests that do not need
// that are faster with package zktest, and can use virtual time there.
//
//	func TestLockSurvivesRestart(t *testing.T) {
//		srv := zkserver.Start(t) // closed when the test ends
//		client := connect(t, srv.Addr())
//		// ...
//		require.NoError(t, srv.Restart())
//	}
//
// # One server for many tests
//
// A server takes most of a second to start, and as much of a processor; an
// ensemble takes more. The tests of a package can share:
//
//   - [Shared] returns a server that all tests use at the same time, each below
//     a path of its own.
//   - [Borrow] returns a server that a test has for itself until it ends. The
//     test may stop, kill or pause it. The next test gets it back serving.
//   - [Start] is for a test that needs an empty server, or that changes the
//     configuration.
//
// Shared and borrowed servers live until [CloseShared]:
//
//	func TestMain(m *testing.M) {
//		code := m.Run()
//		if err := zkserver.CloseShared(); err != nil && code == 0 {
//			fmt.Fprintln(os.Stderr, err)
//			code = 1
//		}
//		os.Exit(code)
//	}
//
// # How ZooKeeper is found
//
// A server needs Java and ZooKeeper's jars. Java is $JAVA_HOME/bin/java, or
// java in PATH if JAVA_HOME is not set. The jars are taken from the first of
// these places that applies:
//
//  1. ZOOKEEPER_HOME, if set: an unpacked distribution, or a directory that
//     holds the jars.
//  2. CURATOR_ZOOKEEPER_MAVEN, if set: a version such as 3.9.3. The command mvn
//     fetches its jars into the user's cache directory, with mvn's own
//     configuration. Later starts find them there.
//  3. Debian's package: apt install zookeeper.
//
// A variable that is set but does not work is an error. The search never goes
// on to the next place, so that no test runs against another version than the
// one that was named.
//
// If nothing is installed ([ErrNotInstalled]), [Start], [Shared], [Borrow] and
// their siblings for ensembles skip the test. Set CURATOR_REQUIRE_ZOOKEEPER to a non-empty value, in CI for
// example, to make the test fail instead.
//
// # What the servers are like
//
// The servers listen on 127.0.0.1 only, and keep their ports over restarts.
// The first start on a machine also makes an archive of Java's classes in the
// user's cache directory, which takes some seconds and saves a third of the
// work of each later start.
// Each keeps its files in a directory of its own below [os.TempDir]. They are
// configured for speed and short timeouts:
//
//   - a tick of 100 ms, and sessions from 200 ms to one minute;
//   - no fsync, so data survives the death of the process but not that of the
//     machine;
//   - no admin server;
//   - every four-letter word is allowed;
//   - TTL nodes are enabled.
//
// Options change each of these. An option that is nil or has an impossible
// value is an error of Run and RunEnsemble, and fails the test in Start, Shared,
// Borrow and their siblings. Other options add to the servers:
//
//   - [WithTLS] opens a second port for clients that speak TLS.
//   - [WithLinks] lets a test cut members of an ensemble off from one another
//     while their clients still reach them.
//   - [WithSequence] makes nodes whose sequence number for children is high
//     from the beginning.
//
// # Lifetime
//
// A server lives until Close or, if it is shared, CloseShared, or until the
// program that started it ends. On
// Linux the kernel ends the server with the program, however the program ends.
// On other systems only Close ends a server: if the program dies without it,
// the JVM keeps running. Only Close removes the server's directory.
//
// # Concurrency
//
// Every method is safe for concurrent use. Each running JVM has one goroutine
// that waits for its end; Stop, Kill and Close return after that goroutine has
// ended. Links have a goroutine for each port and two for each connection; the
// ensemble's Close returns after they have ended. A Restart that waits for its
// server fails if another goroutine stops, kills or closes the server. It is no
// error to stop a server that does not run.
package zkserver
