// Package interop has no code to use: its tests prove that Go processes and Java processes share locks and semaphores, and
// elect leaders among them. The Go side is package recipes, the Java side Apache Curator itself, in processes of its own.
// Each scenario takes place on a real ZooKeeper server, and on zktest over TCP. Further tests prove that clients in other
// languages take zktest for ZooKeeper: Java Curator's recipes, and those of Python's kazoo.
//
//	go test ./testing/interop              # about three minutes
//	go test ./testing/interop -v -run Exclude -stress 5m
//
// # What is proven
//
// GUARANTEES.md lists it, with the tests.
//
// # What is needed
//
// A JDK, which is $JAVA_HOME/bin if JAVA_HOME is set, or else java and javac in PATH; and the jars of Curator and of all
// it needs: those in the directory that CURATOR_JAVA_JARS names, if set, or else Debian's.
//
//	apt install default-jdk-headless libcurator-recipes-java python3-kazoo zookeeper
//
// For kazoo, a Python that has it: $CURATOR_PYTHON if that is set, or else python3 in PATH or Debian's.
//
// The tests compile what is in java once, into a temporary directory. What is missing skips them, and fails them if
// CURATOR_REQUIRE_ZOOKEEPER is set to a non-empty value: set it where a skipped test would go unnoticed, in CI.
// How the real server is found is told by package zkserver.
//
// # How it works
//
// A Java process is a peer: it has one client, obeys lines on its stdin, and ends with it, so that none outlives the tests
// however they end. The comment in java/Peer.java says which lines there are. The real server deletes empty lock paths
// all the time, so that both languages run into paths that have vanished.
//
// # How fast our mutex is, compared with Curator's
//
//	go test ./testing/interop -run - -bench Curator -benchtime 5s -timeout 20m    # about eight minutes
//
// The first number is how many times ours Curator's time is for one acquire and release: the median of the runs, and the
// smallest and largest where there were several. The others are what each of them sends and gets for that, which is the
// same on every machine. Java is Debian's Curator 5.4 on Java 17.
//
//	                                      time             requests         bytes
//	                                      Curator/ours     ours   Curator   ours   Curator
//	one, uncontended                      1.5 (1.2 to 3)   3      3         493    570
//	64 locks on one client                1.2              3      3         496    573
//	8 processes, one lock                 1.6              5      5         1700   1800
//	8 clients of one process, one lock    1.4 (1.3 to 1.9) 5      5         1700   1800
//	64 on one object                      10               3      40        493    40000
//	the same, WithLocalHandOver           250              0.05   40        8      40000
//	64 on one lock, an object each        1.1              5      5         4600   6300
//	500 on one object                     90 (80 to 100)   3      260       600    1800000
//	500 on one lock, an object each       2.5              5      5         30000  42000
//
// The times are from two cores with far more to do at the same time, a load of 5 to 16, which is why they are so far
// apart, and may be in favour of whoever needs fewer threads. Take them again where it is quiet before you rely on them.
// On one object, Curator wakes all its threads for each hand-over, and each of them asks the server; with an object for
// each thread it does not. Java is about half as fast until it has compiled: eight processes warm up for so long.
package interop
