// Flashsale sells more than there is, or rather does not: many orders for the same few units reach several services at
// the same moment, and no unit may be sold twice.
//
//	go run ./examples/flashsale
//
// The services are processes of their own, each with its own ZooKeeper client. They read the stock, decide and write it
// back, under an InterProcessMutex for each article. When all orders are answered, the program reads the books from
// ZooKeeper and checks them. Without arguments there are 100 units and four orders for 100 each, on an embedded server.
//
//	-unsafe                run without the lock, and see the stock oversold
//	-crash before-write    kill a worker that holds the lock, before it has written its sale
//	-crash after-write     the same, after the sale and before anybody was told of it
//	-servers host:port     use a real ensemble
//	-stock, -orders        other CSV files, such as those in data/friday
//
// The exit status is 0 if the books balance (with -unsafe: if they show the oversell), 1 if not, and 2 if the input
// cannot be used.
//
// # Reading the source
//
// seller.go is the part to copy: how an order is sold under a lease, and what to do when the lease is lost or the
// outcome of a write is unknown. ledger.go is the resource that the lock protects, with its fencing token. The rest
// is stage machinery: csv.go and orders.go read the input, worker.go is a worker process and shop.go the parent of them
// all, books.go checks and report.go prints.
package main
