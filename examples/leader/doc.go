// Leader is a service of three processes. Only the leader works: it writes a
// heartbeat to a journal. When the leader is killed, another process takes
// over.
//
//	go run ./examples/leader
//
// The program starts the workers and kills the leader a few times, the last
// time with SIGTERM. It prints what happens and ends. Without -servers it uses
// an embedded server.
//
//	-stay                  kill no process, and run until Ctrl-C
//	-kills n               how often the leader is killed
//	-servers host:port     use a real ensemble
//	-session-timeout d     how long a dead leader keeps the leadership
//
// With -stay, kill the workers yourself, with kill -9 and with kill.
//
// Each worker serves HTTP. The answer of /leader names the leader and its
// fencing token, and says since when this worker has led, if it leads. The
// answer of /healthz is 503 Service Unavailable while the worker is not
// connected. /debug/curatorz is the debug page of package debug/curatorz.
//
// The exit status is 0 if there was one leader at a time throughout, 1 if not
// or if something failed, and 2 if the command line is invalid.
//
// # Reading the source
//
// The file worker.go is the part to copy. It works under the context of its
// leadership, passes its fencing token along, and hands over when it is asked
// to stop. In health.go are its HTTP endpoints. The resource that the leader
// writes to is journal.go, which refuses old tokens. The rest drives the
// demonstration: story.go is the parent of the workers, and process.go is a
// worker process as the parent sees it.
package main
