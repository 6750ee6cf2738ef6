// Package httpsd tells Prometheus which instances a discovery.Directory has, by
// Prometheus's HTTP service discovery.
//
// Mount a Handler in a process that has a Directory, and name its URL in
// Prometheus's configuration:
//
//	scrape_configs:
//	  - job_name: services
//	    http_sd_configs:
//	      - url: http://registry.example/targets
//	    relabel_configs:
//	      - source_labels: [__meta_zookeeper_service]
//	        target_label: job
//
// [GUARANTEES.md] lists every promise, and the tests that hold it.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/recipes/discovery/httpsd/GUARANTEES.md
package httpsd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/discovery"
)

// Option configures a Handler.
type Option func(*handler)

// WithTarget says where Prometheus finds the metrics of an instance, as
// host:port. An instance of which it returns "" is left out. The default is the
// instance's own address and port, or its TLS port with the scheme https if it
// has no other. The function may be called by several goroutines at the same
// time.
func WithTarget(of func(e *discovery.Entry) string) Option {
	return func(h *handler) { h.target = of }
}

// Handler returns a handler that serves what a directory has, at every path that
// it is mounted at: a JSON list of groups in the form that Prometheus documents.
// Each instance is a group of one target, with these labels:
//
//   - __meta_zookeeper_service and __meta_zookeeper_id.
//   - __meta_zookeeper_disabled, which is "true" or "false". An instance that
//     drains still has metrics.
//   - __meta_zookeeper_tls_port, if the instance has one.
//   - __meta_zookeeper_metadata_NAME for each label of the instance. In NAME, a
//     character that Prometheus does not allow is "_". Of two names that become
//     the same, the first one in the order of bytes counts.
//   - __scheme__ is "https" if the target is the instance's TLS port, which it is
//     without WithTarget if there is no other.
//
// An instance without an address, or without a port, is no target.
//
// Until the directory was filled for the first time, and after it has ended, the
// answer has the status 503, and says why: Prometheus then keeps the targets
// that it has. While the directory is interrupted, the answer is what the
// directory has, with the header "Zookeeper-Interrupted: true". The header
// Zookeeper-Zxid says as of which transaction the list is. Only GET and HEAD are
// allowed. With a directory or an option that is nil, each answer has the status
// 503, and says so.
func Handler(d *discovery.Directory, opts ...Option) http.Handler {
	h := &handler{directory: d}
	if d == nil {
		h.fault = isNil("directory")
	}
	for _, o := range opts {
		if o == nil {
			h.fault = isNil("option")
			continue
		}
		o(h)
	}
	return h
}

func isNil(name string) error { return errors.New("the " + name + " of the handler must not be nil") }

type handler struct {
	directory *discovery.Directory
	fault     error                         // what Handler was given that cannot be used; or nil
	target    func(*discovery.Entry) string // nil for the default
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	if err := h.notReady(); err != nil {
		http.Error(w, printable.String(err.Error()), http.StatusServiceUnavailable)
		return
	}
	now := h.directory.Snapshot()
	body, err := list(h.groups(now))
	if err != nil {
		http.Error(w, printable.String(err.Error()), http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("Zookeeper-Zxid", strconv.FormatInt(now.Zxid, 10))
	if now.Interrupted {
		header.Set("Zookeeper-Interrupted", "true")
	}
	w.Write(body)
}

// errNotFilled is why there is no list yet.
var errNotFilled = errors.New("there is no list of instances yet")

// notReady returns why there is no list.
func (h *handler) notReady() error {
	if h.fault != nil {
		return h.fault
	}
	if err := h.directory.Err(); err != nil {
		return err
	}
	// A call that may not wait tells whether there was a list, and if not, why.
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errNotFilled)
	return h.directory.WaitSynced(ctx)
}

// list returns the body of an answer. It is "[]" if there is no target.
func list(groups []group) ([]byte, error) {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(groups); err != nil {
		return nil, fmt.Errorf("encode targets: %w", err)
	}
	return printable.JSON(body.Bytes()), nil
}
