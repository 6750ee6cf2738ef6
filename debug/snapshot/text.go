package snapshot

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gocurator/curator/debug/internal/brief"
	"github.com/gocurator/curator/internal/printable"
)

// WriteText writes the snapshot for people, as plain text. It quotes texts that
// cannot be printed, such as paths that others have made. Times are relative to
// the snapshot's. An error is from w.
func (s Snapshot) WriteText(w io.Writer) error {
	t := &texter{now: s.Time}
	t.line("%s, pid %d on %s, %s, %s, at %s", p(s.Process.Program), s.Process.PID, p(s.Process.Host),
		p(s.Process.GoVersion), brief.Count(s.Process.Goroutines, "goroutine"), s.Time.Format(time.RFC3339))
	if s.Filter != "" {
		t.line("only what has %s in its path", p(fmt.Sprintf("%q", s.Filter)))
	}
	for i := range s.Clients {
		t.client(i+1, &s.Clients[i])
	}
	if len(s.Clients) == 0 {
		t.line("no clients")
	}
	_, err := w.Write(aligned(t.lines))
	return err
}

// texter writes a snapshot. A tab ends a cell of a table.
type texter struct {
	lines []string
	now   time.Time
}

func (t *texter) line(format string, args ...any) {
	t.lines = append(t.lines, strings.Split(fmt.Sprintf(format, args...), "\n")...)
}

// p makes text of others safe to print.
func p(s string) string { return printable.String(s) }

func (t *texter) client(n int, c *Client) {
	t.line("\nCLIENT %d  %s: %s", n, p(c.Service), c.headline(t.now))
	if c.State.Cause != "" {
		t.line("  cause: %s", p(c.State.Cause))
	}
	if c.Chroot != "" {
		t.line("  chroot: %s", p(c.Chroot))
	}
	if c.Session != nil {
		t.line("  session %s: %s", p(c.Session.ID), c.Session.describe(t.now))
	}
	t.section("servers", len(c.Servers), len(c.Servers))
	for _, s := range c.Servers {
		t.line("    %s\t%s", p(s.Address), s.describe(t.now))
	}
	if c.ServersProblem != "" {
		t.line("    the list of servers is old: %s", p(c.ServersProblem))
	}
	if c.Recorded {
		t.recorded(c)
	} else {
		t.line("  locks, registrations, caches and events are not recorded")
	}
	set := []string{fmt.Sprintf("%d are set", c.WatchesSet)}
	if c.WatchesSet == c.Watches.Total {
		set = nil
	}
	t.section("watches", c.Watches.Total, len(c.Watches.Items), set...)
	for _, w := range c.Watches.Items {
		t.line("    %s\t%s", p(w.Path), w.describe())
	}
}

func (t *texter) recorded(c *Client) {
	t.section("holds", c.Holds.Total, len(c.Holds.Items))
	for _, h := range c.Holds.Items {
		t.line("    %s\t%s\tfor %s\t%s", p(h.Path), h.what(), brief.Since(t.now, h.Since), h.describe())
	}
	t.section("waits", c.Waits.Total, len(c.Waits.Items))
	for _, w := range c.Waits.Items {
		t.line("    %s\t%s\tfor %s\t%s", p(w.Path), w.what(), brief.Since(t.now, w.Since), w.describe(t.now))
	}
	t.section("registrations", c.Registrations.Total, len(c.Registrations.Items))
	for _, r := range c.Registrations.Items {
		t.line("    %s\t%s", p(r.Path), r.describe(t.now))
	}
	t.section("caches", c.Caches.Total, len(c.Caches.Items))
	for _, cache := range c.Caches.Items {
		t.line("    %s\t%s", p(cache.Root), cache.describe(t.now))
	}
	t.services(c)
	t.section("events", len(c.Events), len(c.Events))
	for _, e := range c.Events {
		t.line("    %s\t%s\t%s\t%s", brief.Clock(t.now, e.Time), p(e.Kind), p(e.Path), e.describe())
	}
}

// services writes what is registered and seen of services. Most programs have
// neither, and then nothing is written.
func (t *texter) services(c *Client) {
	if c.Instances.Total > 0 {
		t.section("instances", c.Instances.Total, len(c.Instances.Items))
	}
	for _, i := range c.Instances.Items {
		t.line("    %s\t%s\t%s\t%s", p(i.Service), p(i.ID), brief.Address(i.Address, i.Port, i.TLSPort), i.describe(t.now))
	}
	if c.Directories.Total > 0 {
		t.section("directories", c.Directories.Total, len(c.Directories.Items))
	}
	for _, d := range c.Directories.Items {
		t.line("    %s\t%s", p(d.Root), d.describe(t.now))
		for _, s := range d.Services.Items {
			t.line("        %s: %s", p(s.Name), s.describe())
		}
		for _, b := range d.Malformed.Items {
			t.line("        malformed %s: %s", p(b.Path), p(b.Problem))
		}
	}
}

// section writes a heading, and how much of the section is left out. The others
// say more of the total.
func (t *texter) section(name string, total, shown int, others ...string) {
	if total == 0 {
		t.line("  no %s", name)
		return
	}
	parts := others
	if shown < total {
		parts = append(parts, fmt.Sprintf("%d are shown", shown))
	}
	if len(parts) == 0 {
		t.line("  %s: %d", name, total)
	} else {
		t.line("  %s: %d, of which %s", name, total, strings.Join(parts, " and "))
	}
}
