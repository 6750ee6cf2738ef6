// Package zkserver starts real Apache ZooKeeper servers for tests: one alone, or an ensemble. It is for what an
// in-process fake cannot prove: that a promise holds against the server that people run. Tests that do not need that
// are faster, and can use virtual time, on package zktest.
//
//	func TestLockSurvivesRestart(t *testing.T) {
//		srv := zkserver.Start(t) // stopped, and its files removed, when the test ends
//		client := connect(t, srv.Addr())
//		// ...
//		require.NoError(t, srv.Restart())
//	}
//
// A start costs most of a second, that of an ensemble more. A package with many tests starts one server with [Run] in its TestMain.
//
// # Where ZooKeeper is looked for
//
// A server needs Java and ZooKeeper's jars. Java is $JAVA_HOME/bin/java, or java in PATH when JAVA_HOME is not set.
// The jars are the first of:
//
//  1. ZOOKEEPER_HOME, if set: an unpacked distribution, or a directory that holds the jars.
//  2. CURATOR_ZOOKEEPER_MAVEN, if set: a version such as 3.9.3. Its jars are fetched by the command mvn, as that is
//     configured, into the user's cache directory, and found there from then on.
//  3. Debian's package: apt install zookeeper.
//
// What a variable asks for is used or is an error; it never gives way to the next place, so that a test does not run
// against another version than the one named.
//
// [Start] and [StartEnsemble] skip the test when nothing is installed ([ErrNotInstalled]). With CURATOR_REQUIRE_ZOOKEEPER
// set to a non-empty value they fail it instead: set it where a skipped test would go unnoticed, in CI.
//
// # What the servers are like
//
// They listen on 127.0.0.1 only, on ports that stay theirs over restarts. They keep their files in a directory of
// their own below [os.TempDir]. They are set up for speed and short timeouts: a tick of 100 ms, sessions from 200 ms to a
// minute, no fsync (data survives the death of the process, not that of the machine), no admin server, every
// four-letter word allowed, TTL nodes enabled. Options change each of these.
//
// With [WithTLS] they listen on a second port, for clients that speak TLS. With [WithLinks] the members of an ensemble can be
// cut off from one another while their clients still reach them. With [WithSequence] they begin with nodes that look as if
// they had had many sequential children already.
//
// # What outlives what
//
// A server lives until Close, or until the program that started it ends. The latter is kept by the kernel on Linux,
// for every way in which a program can end. Elsewhere only Close ends a server: a program that dies without it leaves
// the JVM running. The directory is removed by Close alone.
//
// # Concurrency properties
//
// Every method may be called by any number of goroutines at once. Each running JVM has one goroutine, which waits for it to end;
// Stop, Kill and Close return after it has. Links have a goroutine for each port and two for each connection; the
// ensemble's Close returns after they have ended. A Restart that is waiting for its server fails when another goroutine
// stops, kills or closes that server. Stopping what does not run is no error.
package zkserver
