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

	"github.com/gocurator/curator/framework"
)

// workerCommand makes the program a worker. It is for the parent alone.
const workerCommand = "worker"

func isWorker(args []string) bool { return len(args) == 3 && args[1] == workerCommand }

// job is what a worker is told by its parent.
type job struct {
	Name, Servers, Path, Journal string
	SessionTimeout, Every        time.Duration
}

// workerMain is the program of a worker. It is asked to stop by a signal, or by the end of its parent, which is that of the
// input.
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

// run does the job. What it prints is where the worker's health is.
func (j job) run(ctx context.Context) error {
	client, err := framework.New(j.Servers, framework.WithSessionTimeout(j.SessionTimeout))
	if err != nil {
		return err
	}
	defer client.Close()
	w := newWorker(client, j.Path, j.Name)
	w.journal, w.every = journalClient(j.Journal), j.Every
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

// launch starts a worker process and returns when it tells of its health.
func launch(j job) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	told, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	p := &process{name: j.Name, cmd: exec.Command(self, workerCommand, string(told)), ended: make(chan struct{})}
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
		return nil, errors.New(p.name + " does not start")
	}
	return p, nil
}

// askLeader returns what the worker's health endpoint says.
func (p *process) askLeader(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.health+"/leader", nil)
	if err != nil {
		return "", err
	}
	request.Close = true // there may be no second one to this process
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return strings.TrimSpace(string(body)), err
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill is SIGKILL: the process gets no chance to clean up, nor to close its session.
func (p *process) kill() { p.cmd.Process.Kill() }

// terminate is SIGTERM, or what comes closest to it where there are no signals.
func (p *process) terminate() {
	if p.cmd.Process.Signal(syscall.SIGTERM) != nil {
		p.stdin.Close()
	}
}

// stop terminates the process, waits for its end, and kills it if that takes too long.
func (p *process) stop() {
	p.terminate()
	select {
	case <-p.ended:
	case <-time.After(5 * time.Second):
		p.kill()
		<-p.ended
	}
}
