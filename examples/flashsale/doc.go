// Flashsale is a shop that must not sell more units than it has. Many orders
// for the same few units reach several services at the same moment, and no unit
// may be sold twice.
//
//	go run ./examples/flashsale
//
// The services are processes, each with its own ZooKeeper client. They read the
// stock, decide and write it back, under an InterProcessMutex for each article.
// When all orders are answered, the program reads the books from ZooKeeper and
// checks them. There are 100 units and four orders of 100 each. Without arguments,
// the server is an embedded one.
//
//	-unsafe                run without the lock, which oversells the stock
//	-crash before-write    kill the holder of the lock before its write
//	-crash after-write     kill it after its write, before its receipt
//	-servers host:port     use a real ensemble
//
// The exit status is 0 if the books balance (with -unsafe: if they show the
// oversell), 1 if not, and 2 if the input is invalid.
//
// # Reading the source
//
// The file seller.go is the part to copy: how an order is sold under a lease,
// and what to do when the lease is lost or the outcome of a write is unknown.
// The resource that the lock protects is ledger.go, with its fencing token. The
// rest drives the demonstration: worker.go is a worker process, shop.go is the
// parent of the workers, books.go checks and report.go prints.
package main
