package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/gocurator/curator/debug/curatorz"
	"github.com/gocurator/curator/framework"
)

// workerCommand turns the program into a worker. Only the parent uses it.
const workerCommand = "worker"

func isWorker(args []string) bool { return len(args) == 3 && args[1] == workerCommand }

// job is what the parent tells a worker.
type job struct {
	Name, Servers, Path, Journal string
	SessionTimeout, Every        time.Duration
}

// workerMain runs a worker process. It stops on a signal, or when its input
// ends, which means that the parent has ended.
func workerMain(args []string) int {
	log.SetFlags(0)
	var j job
	if err := json.Unmarshal([]byte(args[2]), &j); err != nil {
		log.Println(err)
		return badInput
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	if err := j.run(ctx); err != nil {
		log.Printf("%s: %v", j.Name, err)
		return failed
	}
	return asExpected
}

// run does the job. It prints the URL of the worker's HTTP endpoints.
func (j job) run(ctx context.Context) error {
	page := curatorz.New()
	client, err := framework.New(j.Servers, framework.WithSessionTimeout(j.SessionTimeout), framework.WithHooks(page))
	if err != nil {
		return err
	}
	defer client.Close()
	w := newWorker(client, j.Path, j.Name)
	w.journal, w.every, w.page = journalClient(j.Journal), j.Every, page
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := http.Server{Handler: w.health(), ReadHeaderTimeout: time.Second}
	go server.Serve(listener)
	defer server.Close()
	fmt.Println("http://" + listener.Addr().String())
	return w.run(ctx)
}

// process is a worker process as its parent sees it.
type process struct {
	name   string
	health string // its URL
	cmd    *exec.Cmd
	stdin  io.Closer
	ended  chan struct{} // closed when the process has ended
}

// launch starts a worker process and waits until it prints its URL.
func launch(j job) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	p := &process{
		name:  j.Name,
		cmd:   exec.Command(self, workerCommand, string(encoded)),
		ended: make(chan struct{}),
	}
	p.cmd.Stderr = os.Stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	first, _ := bufio.NewReader(stdout).ReadString('\n')
	p.health = strings.TrimSpace(first)
	go func() {
		defer close(p.ended)
		p.cmd.Wait()
	}()
	if p.health == "" {
		<-p.ended
		return nil, errors.New(p.name + " has not started")
	}
	return p, nil
}

// askLeader returns the answer of the worker's endpoint /leader.
func (p *process) askLeader(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.health+"/leader", nil)
	if err != nil {
		return "", err
	}
	request.Close = true // there may be no second request to this process
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return strings.TrimSpace(string(body)), err
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill sends SIGKILL: the process cannot clean up or close its session.
func (p *process) kill() { p.cmd.Process.Kill() }

// terminate sends SIGTERM. On systems without signals it closes the input
// instead.
func (p *process) terminate() {
	if p.cmd.Process.Signal(syscall.SIGTERM) != nil {
		p.stdin.Close()
	}
}

// stop terminates the process and waits for its end. It kills the process if
// that takes too long.
func (p *process) stop() {
	p.terminate()
	select {
	case <-p.ended:
	case <-time.After(5 * time.Second):
		p.kill()
		<-p.ended
	}
}
