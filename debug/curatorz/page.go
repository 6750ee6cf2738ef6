package curatorz

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
)

// Page is a hook for framework.WithHooks that records the events of its clients, and
// the handler of the debug page that shows the record. A Page is safe for concurrent
// use.
type Page interface {
	// ServeHTTP serves the page at every path where it is mounted, for the methods GET
	// and HEAD. The answer to an invalid query has the status 400 and a description of
	// the problem.
	http.Handler

	// WriteText writes the page as text, with up to 1,000 items of each list. It sends
	// no requests and waits for no server. Any error comes from w.
	WriteText(w io.Writer) error
}

// New returns a page for the clients that receive it by framework.WithHooks. The page
// shows open clients, and the last 8 closed ones.
func New() Page {
	p := &page{slots: make(chan struct{}, mostAtATime), open: map[framework.Extension]*record{}}
	p.take = p.moment
	return p
}

// page is the Page.
type page struct {
	take  func() moment
	slots chan struct{} // see mostAtATime

	mu     sync.Mutex // protects the following fields, and the fields of every record
	opened int        // how many clients were opened
	open   map[framework.Extension]*record
	closed []*record // the last mostClosed, the newest last
}

// mostClosed is how many closed clients a page shows.
const mostClosed = 8

func (p *page) WriteText(w io.Writer) error {
	_, err := w.Write(documentOf(p.take(), query{All: true}).text())
	return err
}

// ClientOpened implements clienttrace.HookClientOpened.
func (p *page) ClientOpened(c clienttrace.Client) {
	client := c.(framework.Extension)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened++
	p.open[client] = &record{
		client: client, number: p.opened, locks: map[*lock]struct{}{}, followers: map[any]func(*source){},
	}
}

// ClientClosed implements clienttrace.HookClientClosed. It keeps the last events of the
// client.
func (p *page) ClientClosed(c clienttrace.Client) {
	p.change(c, func(r *record) {
		r.locks, r.followers = nil, nil
		r.events.add(event{at: time.Now(), name: "client", text: "closed"})
		delete(p.open, r.client)
		if p.closed = append(p.closed, r); len(p.closed) > mostClosed {
			p.closed = slices.Delete(p.closed, 0, 1)
		}
	})
}

// StateChanged implements clienttrace.HookStateChanged.
func (p *page) StateChanged(change clienttrace.StateChange) {
	e := event{at: change.Time, name: "state", text: strings.ToLower(change.State.String()),
		bad: !change.State.IsConnected()}
	if e = e.because(change.Cause); !e.bad {
		e.text += " to " + change.Server
	}
	p.change(change.Client, func(r *record) { r.events.add(e) })
}

// change changes the record of an open client. If the client is closed, or no client of
// this page, there is nothing to change.
func (p *page) change(c clienttrace.Client, do func(*record)) {
	client, _ := c.(framework.Extension)
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.open[client]; r != nil {
		do(r)
	}
}

// rootOf returns the client of a view, as the page's hooks know it.
func rootOf(view *framework.Client) framework.Extension { return framework.Extend(view).Root() }

// fullPath returns the server's name for a path of a view.
func fullPath(view *framework.Client, path string) string {
	return framework.Extend(view).FullPath(path)
}
