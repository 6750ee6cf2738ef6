// Config is a service whose settings are in one node. People and scripts change the
// settings while the service runs, and some changes are wrong.
//
//	go run ./examples/config
//
// A shared.Value follows the node. A codec validates the settings when a process
// writes or reads them. Whatever the node contains, the service keeps the last good
// settings, and its log says who changed what. The part to copy is everything above
// the function main. The ZooKeeper server of the program is in memory.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

const node = "/settings"

// settings can change while the service runs. ZooKeeper does not record who wrote a
// node, so the settings contain the author.
type settings struct {
	Workers   int    `json:"workers"`  // how many handle orders at the same time
	Discount  int    `json:"discount"` // percent
	ChangedBy string `json:"changed_by"`
}

var (
	defaults   = settings{Workers: 4, ChangedBy: "defaults"}
	errInvalid = errors.New("want 1 to 64 workers, and 0 to 50 % off")
)

func (s settings) String() string { return fmt.Sprintf("%d workers, %d %% off", s.Workers, s.Discount) }

func (s settings) validate() error {
	if s.Workers < 1 || s.Workers > 64 || s.Discount < 0 || s.Discount > 50 {
		return fmt.Errorf("%v by %q: %w", s, s.ChangedBy, errInvalid)
	}
	return nil
}

// validated returns a codec that neither writes nor reads invalid settings.
func validated() codec.Codec[settings] {
	plain := codec.JSON[settings]()
	return codec.Codec[settings]{
		Encode: func(s settings) ([]byte, error) {
			data, err := plain.Encode(s)
			return data, cmp.Or(err, s.validate())
		},
		Decode: func(data []byte) (settings, error) {
			s, err := plain.Decode(data)
			return s, cmp.Or(err, s.validate())
		},
	}
}

// service is a process that works by its settings.
type service struct {
	node    *shared.Value[settings]
	log     *slog.Logger
	current atomic.Pointer[settings] // the last good settings; the defaults at first
}

// newService returns a service. The caller closes its node.
func newService(client *framework.Client, log *slog.Logger) (*service, error) {
	value, err := shared.NewValue(client, node, validated(), defaults)
	if err != nil {
		return nil, err
	}
	s := &service{node: value, log: log}
	s.current.Store(&defaults)
	return s, nil
}

// follow keeps the current settings up to date until ctx is done. It calls use when
// the node was read, and after each change of the node.
func (s *service) follow(ctx context.Context, use func(settings)) error {
	for now, err := range s.node.Changes(ctx) {
		var bad *codec.DecodeError
		switch {
		case errors.As(err, &bad):
			s.log.Error("bad settings, the last good ones stay", "error", err, "zxid", bad.Mzxid)
		case err != nil:
			return err
		case !now.Exists:
			s.log.Error("settings were deleted, the last good ones stay")
		default:
			old := s.current.Swap(&now.Value)
			s.log.Info("new settings", "by", now.Value.ChangedBy, "old", old, "new", now.Value, "zxid", now.Mzxid)
		}
		use(*s.current.Load())
	}
	return nil
}

// change edits the settings of all processes. If another process was faster, change
// edits the settings of that process. If the node has no good settings, change edits
// the last good ones. Invalid settings are not written.
func (s *service) change(ctx context.Context, by string, edit func(*settings)) error {
	now, err := s.node.Refresh(ctx)
	for written := false; !written; {
		next := now.Value
		var bad *codec.DecodeError
		switch {
		case errors.As(err, &bad), err == nil && !now.Exists:
			next = *s.current.Load()
		case err != nil:
			return err
		}
		edit(&next)
		next.ChangedBy = by
		now, written, err = s.node.TrySet(ctx, now, next)
	}
	return err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	srv, err := zktest.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	if err := run(ctx, srv, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run changes the settings of a service that runs.
func run(ctx context.Context, srv *zktest.Server, out io.Writer) error {
	client, err := framework.Connect(ctx, srv.Addr(), framework.WithDialer(srv.Dialer()))
	if err != nil {
		return err
	}
	defer client.Close()
	withoutTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	s, err := newService(client, slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{ReplaceAttr: withoutTime})))
	if err != nil {
		return err
	}
	defer s.node.Close()
	used, ended := make(chan settings), make(chan error, 1)
	start := func() error {
		go func() { ended <- s.follow(ctx, func(now settings) { used <- now }) }()
		return nil
	}
	change := func(by string, edit func(*settings)) func() error {
		return func() error { return s.change(ctx, by, edit) }
	}
	write := func(text string) func() error {
		return func() error { return srv.Set(node, []byte(text)) }
	}
	for _, step := range []struct {
		title string
		do    func() error
	}{
		{"The service starts.", start},
		{"Alice wants 8 workers.", change("alice", func(s *settings) { s.Workers = 8 })},
		{"A script writes no workers.", write(`{"workers":0,"changed_by":"nightly.sh"}`)},
		{"An editor saves half a file.", write(`{"workers":16,`)},
		{"Bob wants a discount of 500 %.", change("bob", func(s *settings) { s.Discount = 500 })},
		{"An operator deletes the node.", func() error { return srv.Delete(node) }},
		{"Bob wants a discount of 20 %.", change("bob", func(s *settings) { s.Discount = 20 })},
	} {
		fmt.Fprintln(out, step.title)
		if err := step.do(); errors.Is(err, errInvalid) {
			fmt.Fprintln(out, "The change is refused:", err)
			continue // the node has not changed
		} else if err != nil {
			return err
		}
		select {
		case now := <-used:
			fmt.Fprintln(out, "The service uses", now)
		case err := <-ended:
			return err
		}
	}
	return nil
}
