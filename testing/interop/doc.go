// Package interop tests that Go processes and Java processes share locks and
// semaphores, elect leaders together, join the same groups, find each other's
// services, and have the same tree in their caches. It has no code to use. The
// Go side is the recipes. The Java side is Apache Curator itself, in other
// processes. Each scenario runs on a real ZooKeeper server and on zktest over
// TCP. Further tests run the recipes of Java Curator and of Python's kazoo on
// zktest.
//
//	go test -tags real ./testing/interop   # about two minutes
//	go test -tags real ./testing/interop -v -run Exclude -stress 5m
//
// # Requirements
//
// The tests need a JDK, which is $JAVA_HOME/bin if JAVA_HOME is set, or else
// java and javac in PATH. They need the jars of Curator and of its
// dependencies: Debian's, or the dependencies of the version that the flag -curator names,
// which Maven fetches.
//
//	apt install default-jdk-headless libcurator-recipes-java \
//		libcurator-discovery-java python3-kazoo zookeeper
//
// For kazoo they need a Python that has it: python3 in PATH, or else Debian's. For
// Spring Cloud Zookeeper, Dubbo and the newest Curator they need the command mvn, which
// fetches them once into the user's cache directory.
//
// The tests compile the files in java and keep the classes in the user's cache
// directory. A test fails if something that it needs is missing. Package zkserver
// says how the real server is found.
//
// # How it works
//
// A peer has one client in Java and obeys commands, which the comments of
// java/Peer.java and of the other files there list. One Java process has all
// peers, except peers that a test kills: each of these has its own process. Peers with
// Spring, Dubbo and the newest Curator are in that process, too, with their own classes.
// A Java process ends with its stdin, so that no process is left when the tests end.
//
// All scenarios run at the same time, each on its own paths. Most of them
// wait for the end of sessions. The real server deletes empty lock paths all
// the time, so that both languages meet paths that have vanished.
//
// # Benchmarks
//
// BENCHMARKS.md has their results, and internal/benchmarks runs them. This command
// runs the benchmarks of locks and counters:
//
//	go test -tags real ./testing/interop -run - -bench Speed -benchtime 9x -warm 4s -timeout 60m
//
// # The first sync of our cache compared with Curator's
//
//	go test -tags real ./testing/interop -run - -bench FirstSync -benchtime 3x -timeout 20m
//
// The benchmark fills caches from a real server, with 64 bytes of data in each
// node, and makes the same reads with 64 goroutines of go-zookeeper. Times are
// ours divided by the other's. They were measured on two cores with a load of 12
// to 50, and vary.
//
//	100,000 nodes, time / bare reads       1.15 to 1.35
//	60,000 nodes, time / CuratorCache's    0.55 (0.52 and 0.59)
//	bytes of memory for one node           530 to 570, Curator 300
//	requests for one node                  1, Curator 2
//
// A CuratorCache of 100,000 nodes does not fill: it stops with an error when it
// begins to read more than 65,535 nodes at a time.
package interop
