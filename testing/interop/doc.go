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
//   - A lock goes from one language to the other when it is released. (TestHandOver)
//   - A queue of both is admitted in the order of arrival, readers together, and as many as a semaphore has leases. Both see
//     the same participants. (TestMixedQueueIsAdmittedInOrderOfArrival)
//   - There is one holder at a time, or one writer, or no more leases than the limit, whoever competes for a mutex, a
//     read/write lock, a semaphore, a semaphore mutex or several mutexes at once. This is judged by something that is no part
//     of ZooKeeper. (TestLanguagesExcludeEachOther)
//   - Who goes over from writing to reading keeps the lock, unless it is Java before Curator 5.5, and readers of the other
//     language join it. (TestDowngradeWithAWaitingWriter, TestReadersJoinADowngradedOne)
//   - A semaphore's shared limit is raised by either language, and heard of by either. (TestSharedLimitIsRaised)
//   - Java, which takes several leases one by one, may wait for us while we wait for it, until its time is up.
//     (TestJavaWaitsInTheMiddleOfSeveralLeases)
//   - Either may ask the other to give a lock up. (TestWeRevokeJavasLock, TestJavaRevokesOurLock)
//   - Our lock of several is the mutexes that it consists of, to Java. (TestMultiLockAmongJavasMutexes)
//   - Fencing tokens grow from holder to holder of either language, across deletion of the lock's path: ours are the
//     czxid that a Java holder finds in its own node's Stat. (TestTokensGrowAcrossLanguages)
//   - Who does not get the lock leaves nothing behind, and disturbs nobody. (TestJavaTimesOutOnOurLockAndLeavesNothing,
//     TestTryAcquireNamesTheJavaHolder, TestWaiterThatGivesUpDoesNotDisturbTheQueue)
//   - Who loses its session, its connection or its life loses the lock to the other language, in time; a waiter that does
//     so loses its place. (Test...SessionIsKilled, TestJavaProcessIsKilledWhileHolding, TestOurHolderIsCutOff)
//   - Candidates of both, with latches or with selectors, lead one after the other, in the order in which they stood, and
//     see the same leader and candidates, by their ids. (TestLeadershipGoesFromOneLanguageToTheOther)
//   - One leads at a time, whoever is killed: by the end of its session, by the loss of all contact, by kill -9. This is
//     judged by something that is no part of ZooKeeper. Who cannot know in time of the end of its session has a token that
//     is refused. (TestOneLatchLeadsWhoeverIsKilled, TestOneSelectorLeadsWhoeverIsKilled)
//   - Either may ask our leader to step down, but a latch of Java's that is next in line does not hear of it.
//     (TestOurLeaderIsRevoked, TestJavasLatchMissesItsTurnBehindARevokedOne)
//   - A selector and a mutex exclude each other. (TestSelectorAndMutexExcludeEachOther)
//   - A lock that nobody contends costs either of them three requests. (TestUncontendedCycleIsThreeRequestsInBothLanguages)
//   - Node names, modes and parents are alike. (TestJavaTakesOurNamesApart, TestBothMakeTheSameNodes)
//   - Java Curator's own recipes work on zktest as they do on a real server: read/write locks, semaphores, leader latches
//     and selectors, shared counts, revocation. (TestJava...OnItsOwn)
//   - So do kazoo's: locks, semaphores, elections, counters, barriers, parties, queues, watches, transactions, auth, the
//     loss of a session. (TestKazooRecipes)
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
