package main

import "slices"

// article is an article with its initial stock.
type article struct {
	Name  string
	Units int
}

// order asks for its whole quantity or nothing.
type order struct {
	ID       string
	Article  string
	Quantity int
	Worker   string
}

// The stock of the shop, and the orders that reach it at once, each at a worker.
var (
	storyStock  = []article{{"sneaker", 100}}
	storyOrders = []order{
		{"order-1", "sneaker", 100, "berlin"},
		{"order-2", "sneaker", 100, "lisbon"},
		{"order-3", "sneaker", 100, "oslo"},
		{"order-4", "sneaker", 100, "vienna"},
	}
)

// workerNames returns the names of the workers in the order of their first
// orders.
func workerNames(orders []order) []string {
	var names []string
	for _, o := range orders {
		if !slices.Contains(names, o.Worker) {
			names = append(names, o.Worker)
		}
	}
	return names
}
