// Package interop tests that Go processes and Java processes share locks and
// semaphores, elect leaders together, join the same groups, find each other's
// services, and have the same tree in their caches. It has no code to use. The
// Go side is the recipes. The Java side is Apache Curator itself, in processes
// of its own. Each scenario runs on a real ZooKeeper server and on zktest over
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
// dependencies: Debian's, or those of the version that the flag -curator names,
// which Maven fetches.
//
//	apt install default-jdk-headless libcurator-recipes-java \
//		libcurator-discovery-java python3-kazoo zookeeper
//
// For kazoo they need a Python that has it: python3 in PATH, or else Debian's. For Spring Cloud Zookeeper, Dubbo and the
// newest Curator they need the command mvn, which fetches them once into the
// user's cache directory.
//
// The tests compile the files in java and keep the classes in the user's cache
// directory. A test fails if something that it needs is missing. Package zkserver
// says how the real server is found.
//
// # How it works
//
// A peer has one client in Java and obeys commands, which the comments of
// java/Peer.java and of the other files there list. One Java process has all
// peers, except for those that a test kills: each of these has a process of its
// own. Peers with Spring, Dubbo and the newest Curator are in that process, too,
// with classes of their own. A Java process ends with its stdin, so that none outlives the tests,
// however they end.
//
// All scenarios run at the same time, each on paths of its own. Most of them
// wait for the end of sessions. The real server deletes empty lock paths all
// the time, so that both languages meet paths that have vanished.
//
// # The speed of our mutex compared with Curator's
//
//	go test -tags real ./testing/interop -run - -bench Curator -benchtime 5s -timeout 20m
//
// The benchmark takes about eight minutes. The first column is Curator's time
// for one acquire and release divided by ours: the median of the runs, and the
// smallest and largest if there were several. The other columns are the
// requests and bytes of each side, which are the same on every machine. Java is
// Debian's Curator 5.4 on Java 17.
//
//	                     Curator's time    requests        bytes
//	                     / ours            ours  Curator   ours   Curator
//	one, uncontended     1.5 (1.2 to 3)    3     3         493    570
//	64 locks, 1 client   1.2               3     3         496    573
//	8 processes, 1 lock  1.6               5     5         1700   1800
//	8 clients, 1 lock    1.4 (1.3 to 1.9)  5     5         1700   1800
//	64 on one object     10                3     40        493    40000
//	with local hand-over 250               0.05  40        8      40000
//	64 objects, 1 lock   1.1               5     5         4600   6300
//	500 on one object    90 (80 to 100)    3     260       600    1800000
//	500 objects, 1 lock  2.5               5     5         30000  42000
//
// The eight clients are in one process. The local hand-over is 64 on one object
// with locks.WithLocalHandOver.
//
// The times were measured on two cores with a load of 5 to 16. So they vary,
// and may favour the side that needs fewer threads. Measure again on a quiet
// machine before relying on them. If many threads share an object, Curator
// wakes all of them for each hand-over, and each of them asks the server. With
// an object for each thread it does not. Java is about half as fast until it
// has compiled, so eight processes warm up for eight times as long.
//
// # The speed of our increments compared with Curator's
//
//	go test -tags real ./testing/interop -run - -bench Increments -benchtime 10x -timeout 20m
//
// The benchmark takes about ten minutes. The first column is Curator's time for
// one increment divided by ours, and the others are the requests of each side
// for one increment. The writers of a row are goroutines, or threads, that share
// one object.
//
//	                           Curator's time    requests
//	                           / ours            ours  Curator
//	1 writer                   2.2               1     2
//	8 writers                  12                0.25  9.4
//	64 writers                 320               0.03  52
//	8 writers, with receipts   15                0.25  9.1
//	8 writers, 8 clients       2.2               1.4   9.5
//	8 writers, Sequence.Next   9.7               1     9.1
//
// Goroutines that share an object write together, so our cost does not grow with
// their number. In the row with eight clients, nothing is combined on our side,
// and Curator's threads have one client. They try again at once, as their retry
// policy says here. The times come from single runs on a busy machine.
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
