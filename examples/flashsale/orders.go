package main

import (
	"embed"
	"fmt"
	"io"
	"os"
)

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

// maxWorkers bounds the number of processes.
const maxWorkers = 64

// maxOrders keeps the sales of an article within one megabyte, which is the
// limit of a node.
const maxOrders = 2000

//go:embed data/story
var story embed.FS

// readFiles reads the input. An empty name stands for the built-in file.
func (c *config) readFiles(stockFile, ordersFile string, workers int) (err error) {
	if c.stock, err = readFile(stockFile, "data/story/stock.csv", readStock); err != nil {
		return err
	}
	read := func(name string, in io.Reader) ([]order, error) { return readOrders(name, in, c.stock) }
	c.orders, err = readFile(ordersFile, "data/story/orders.csv", read)
	if err != nil {
		return err
	}
	deal(c.orders, workers)
	if n := len(workerNames(c.orders)); n > maxWorkers {
		return fmt.Errorf("%s: %d workers; there may be %d", ordersFile, n, maxWorkers)
	}
	return nil
}

func readFile[T any](name, builtIn string, read func(name string, in io.Reader) ([]T, error)) ([]T, error) {
	if name == "" {
		f, err := story.Open(builtIn)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return read("built-in "+builtIn, f)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(name, f)
}

func readStock(file string, in io.Reader) ([]article, error) {
	var stock []article
	seen := map[string]bool{}
	t := table{file: file, required: []string{"article", "units"}}
	err := t.read(in, func(r row) error {
		name, err := r.name("article")
		if err != nil {
			return err
		}
		if seen[name] {
			return r.invalid("article", "listed twice")
		}
		seen[name] = true
		units, err := r.number("units", 0)
		stock = append(stock, article{name, units})
		return err
	})
	return stock, err
}

func readOrders(file string, in io.Reader, stock []article) ([]order, error) {
	var orders []order
	known := map[string]bool{}
	for _, a := range stock {
		known[a.Name] = true
	}
	seen := map[string]bool{}
	t := table{file: file, required: []string{"order", "article", "quantity"}, optional: []string{"worker"}}
	err := t.read(in, func(r row) error {
		o, err := readOrder(r)
		switch {
		case err != nil:
			return err
		case seen[o.ID]:
			return r.invalid("order", "listed twice")
		case !known[o.Article]:
			return r.invalid("article", "not in the stock file")
		case len(orders) == maxOrders:
			return r.invalid("order", fmt.Sprintf("there may be %d orders", maxOrders))
		}
		seen[o.ID] = true
		orders = append(orders, o)
		return nil
	})
	return orders, err
}

func readOrder(r row) (o order, err error) {
	if o.ID, err = r.name("order"); err != nil {
		return order{}, err
	}
	if o.Article, err = r.name("article"); err != nil {
		return order{}, err
	}
	if o.Quantity, err = r.number("quantity", 1); err != nil {
		return order{}, err
	}
	if r.text("worker") != "" {
		o.Worker, err = r.name("worker")
	}
	return o, err
}

// deal distributes the orders that name no worker among n workers in turn.
func deal(orders []order, n int) {
	next := 0
	for i := range orders {
		if orders[i].Worker == "" {
			orders[i].Worker = fmt.Sprintf("worker-%d", next%n+1)
			next++
		}
	}
}

// workerNames returns the names of the workers in the order of their first
// orders.
func workerNames(orders []order) []string {
	var names []string
	seen := map[string]bool{}
	for _, o := range orders {
		if !seen[o.Worker] {
			seen[o.Worker] = true
			names = append(names, o.Worker)
		}
	}
	return names
}
