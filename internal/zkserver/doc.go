// Package zkserver starts real Apache ZooKeeper servers for tests: a single
// server or an ensemble. Use it to show that a promise holds against the server
// that people run, which an in-process fake cannot show. Tests that do not need
// that are faster with package zktest.
//
//	func TestLockSurvivesRestart(t *testing.T) {
//		srv := zkserver.Start(t) // closed when the test ends
//		client := curatortest.Connect(t, srv)
//		// ...
//		require.NoError(t, srv.Restart())
//	}
//
// Only package zktest can use virtual time. A real server does not work in a
// bubble of testing/synctest: the bubble's clock stands still while a socket
// waits.
//
// # One server for many tests
//
// A server takes most of a second to start, and an ensemble more. The tests of
// a package can share them until [CloseShared], which belongs at the end of
// TestMain:
//
//   - [Shared] returns a server that all tests use at the same time, each below its own
//     path.
//   - [Borrow] returns a server that a test has for itself until it ends. The
//     test may stop, kill or pause it. The next test gets it back serving.
//   - [Start] is for a test that needs an empty server, or that changes the
//     configuration.
//
// # How ZooKeeper is found
//
// A server needs Java, at $JAVA_HOME/bin/java or in the PATH, and ZooKeeper's
// jars, which are taken from the first of these places that applies:
//
//  1. ZOOKEEPER_HOME, if set: an unpacked distribution, or a directory that
//     holds the jars.
//  2. CURATOR_ZOOKEEPER_MAVEN, if set: a version such as 3.9.3. The command mvn
//     fetches its jars into the user's cache directory.
//  3. Debian's package: apt install zookeeper.
//
// A variable that is set but does not work is an error; the search does not go
// on. If nothing is installed, the test fails ([ErrNotInstalled]).
//
// # What the servers are like
//
// The servers listen on 127.0.0.1 only, keep their ports over restarts, and are
// configured for speed: a tick of 100 ms, sessions from 200 ms to one minute,
// no fsync, no admin server, TTL nodes, and every four-letter word. Options
// change that. Data survives the death of the process, but not a crash of the
// machine.
//
// A server lives until the end of its test or CloseShared. On Linux the kernel ends it with
// the program, however that ends; elsewhere a program that dies leaves the JVM behind. Each
// server has its own directory below [os.TempDir], which Close removes. The first start on
// a machine takes some seconds longer, for an archive of Java's classes in the user's cache
// directory.
//
// # Calls and errors
//
// Every method is safe for concurrent use. It is no error to stop a server that
// does not run. Start closes its server when the test ends.
package zkserver
