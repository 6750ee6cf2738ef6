// Leader is a service that runs as three processes, of which one works: it writes a heartbeat to a journal. When the leader
// is killed, the next one takes over.
//
//	go run ./examples/leader
//
// The program starts the workers, kills whoever leads a few times, the last time with a SIGTERM, prints what happens, and
// ends. Without arguments there is an embedded server.
//
//	-stay                  kill nobody, and go on until Ctrl-C: kill the workers yourself, with kill -9 and with kill
//	-kills n               how often the leader is killed
//	-servers host:port     use a real ensemble
//	-session-timeout d     how long a dead leader is missed before the next one leads
//
// Each worker has a port for its health: /leader says who leads, with which fencing token and, if it is this one, since
// when; /healthz is 503 Service Unavailable while it is not connected.
//
// The exit status is 0 if there was one leader at a time throughout, 1 if not or if something failed, and 2 if the
// command line cannot be used.
//
// # Reading the source
//
// worker.go is the part to copy: it works under the context of its leadership, passes its fencing token along, and hands
// over when it is asked to stop. health.go is what it tells of itself. journal.go is the resource that the leader writes
// to, which refuses old tokens. The rest is stage machinery: story.go is the parent of the workers and process.go one of
// them, as the parent sees it.
package main
