// Peers is a program with the locks of etcd or Redis, for benchmarks in
// testing/interop, which send the same commands as to the peer in Java. Because of its
// imports, it is a separate module.
//
//	peers etcd|redis ADDRESS MILLISECONDS
//
// The last argument is how long a lock stays held after the death of its client; for
// Redis, the validity of a key. Each command is a line on stdin: a number, the command
// and its arguments. The answer is a line that begins with the number and "ok" or
// "error". The line "0 ok" announces the connection. The program ends at the end of
// stdin.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// library is a library of locks.
type library interface {
	// connect returns a client with a separate connection.
	connect(ctx context.Context) (client, error)
}

type client interface {
	mutex(path string) mutex
	close()
}

// mutex is held by one goroutine at a time.
type mutex interface {
	acquire(ctx context.Context) error
	// try returns false if another client has the mutex.
	try(ctx context.Context) (bool, error)
	release(ctx context.Context) error
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: peers etcd|redis ADDRESS MILLISECONDS")
	}
	ms, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	validity := time.Duration(ms) * time.Millisecond
	of, err := named(args[0], args[1], validity)
	if err != nil {
		return err
	}
	return serve(of)
}

func named(name, addr string, validity time.Duration) (library, error) {
	switch name {
	case "etcd":
		return etcd{addr, validity}, nil
	case "redis":
		return redis{addr, validity}, nil
	}
	return nil, fmt.Errorf("no such library: %s", name)
}

// serve obeys the commands until stdin ends. It does not wait for commands that are
// still running then.
func serve(of library) error {
	p := &peer{library: of}
	c, err := of.connect(context.Background())
	if err != nil {
		return err
	}
	p.clients = append(p.clients, c)
	fmt.Println("0 ok")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		go p.answer(strings.Fields(lines.Text()))
	}
	p.close()
	return nil
}

type peer struct {
	library library

	mu      sync.Mutex // one command at a time
	clients []client
}

func (p *peer) close() {
	for _, c := range p.clients {
		c.close()
	}
}

func (p *peer) answer(words []string) {
	result, err := p.obey(context.Background(), words[1:])
	if err != nil {
		result = "error " + strings.Join(strings.Fields(err.Error()), " ")
	}
	fmt.Println(words[0] + " " + result)
}

// obey runs "acquire NAME PATH MS" or "scenario NAME PATH TIMES".
func (p *peer) obey(ctx context.Context, words []string) (string, error) {
	if len(words) != 4 {
		return "", errors.New("no such command")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch words[0] {
	case "acquire":
		return "ok", p.clients[0].mutex(words[2]).acquire(ctx)
	case "scenario":
		times, err := strconv.Atoi(words[3])
		if err != nil {
			return "", err
		}
		took, err := p.scenario(ctx, words[1], words[2], times)
		return fmt.Sprint("ok ", took.Nanoseconds()), err
	}
	return "", errors.New("no such command")
}

// of returns n clients, and creates missing ones.
func (p *peer) of(ctx context.Context, n int) ([]client, error) {
	for len(p.clients) < n {
		c, err := p.library.connect(ctx)
		if err != nil {
			return nil, err
		}
		p.clients = append(p.clients, c)
	}
	return p.clients[:n], nil
}
