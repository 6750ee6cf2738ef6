package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
)

// unwell is the exit status of doctor if something is wrong.
const unwell = 2

var doctorCommand = &command{
	Name:    "doctor",
	Purpose: "examine the servers, the session, the clock and the tree",
	Usage:   "[flags]",
	Long: `
The doctor asks each server individually, measures the servers' clock with a
node that it creates and deletes, and searches the tree for leftovers: nodes
that stay after a crash, nodes of dead processes of this machine, foreign nodes
in queues, and empty parents that no server removes. The exit status is 2 if
there are findings other than hints.
`,
	Define: func(*flag.FlagSet) action { return runDoctor },
}

func runDoctor(ctx context.Context, e *env) error {
	d := &doctor{env: e}
	if err := d.servers(ctx); err != nil {
		return err
	}
	c, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := d.client(ctx, c); err != nil {
		return err
	}
	if err := d.report(); err != nil {
		return err
	}
	if d.wrong > 0 {
		return statusError{status: unwell}
	}
	return nil
}

// client examines the ensemble as a client sees it.
func (d *doctor) client(ctx context.Context, c *framework.Client) error {
	if err := d.session(ctx, c); err != nil {
		return err
	}
	// Creating a node would also create the chroot.
	exists, _, err := c.Exists(ctx, "/")
	if err != nil {
		return err
	}
	if !exists {
		d.find(finding{What: "no chroot", Text: "it does not exist: a client with a mistyped one works alone"})
		return nil
	}
	if err := d.time(ctx, c); err != nil {
		return err
	}
	return d.tree(ctx, c)
}

// doctor collects findings.
type doctor struct {
	*env
	findings []finding
	wrong    int // the number of findings that are not hints
}

// finding is the JSON of a problem or a hint.
type finding struct {
	Type string `json:"type"` // "finding"
	Hint bool   `json:"hint"` // not a problem, but worth knowing
	What string `json:"what"`
	Path string `json:"path,omitempty"`
	Text string `json:"text"`
}

func (d *doctor) find(f finding) {
	f.Type = "finding"
	d.findings = append(d.findings, f)
	if !f.Hint {
		d.wrong++
	}
}

// fact prints a general fact: a JSON object, or a name and a text.
func (d *doctor) fact(name, text string, object any) error {
	if d.isJSON() {
		return d.writeJSON(object)
	}
	_, err := fmt.Fprintf(d.out, "%-10s %s\n", name, text)
	return err
}

// session prints the session timeout that the server has granted.
func (d *doctor) session(ctx context.Context, c *framework.Client) error {
	s, err := c.Session(ctx)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("timeout %v, as asked for", s.Timeout())
	if s.Timeout() != d.sessionTimeout {
		text = fmt.Sprintf("timeout %v, negotiated: %v was asked for", s.Timeout(), d.sessionTimeout)
	}
	return d.fact("session", text, struct {
		Type    string       `json:"type"`
		Asked   view.Seconds `json:"asked_timeout_seconds"`
		Timeout view.Seconds `json:"timeout_seconds"`
	}{"session", view.SecondsOf(d.sessionTimeout), view.SecondsOf(s.Timeout())})
}

// report prints the findings.
func (d *doctor) report() error {
	if d.isJSON() {
		for _, f := range d.findings {
			if err := d.writeJSON(f); err != nil {
				return err
			}
		}
		return nil
	}
	if len(d.findings) == 0 {
		_, err := fmt.Fprintln(d.out, "\nnothing is wrong")
		return err
	}
	fmt.Fprintln(d.out)
	table := d.table()
	table.Header("FINDING", "PATH", "WHAT IT MEANS")
	for _, f := range d.findings {
		what := columns.Cell{Text: f.What, Style: columns.Bad}
		if f.Hint {
			what = columns.Cell{Text: "hint: " + f.What, Style: columns.Faint}
		}
		table.Row(what, columns.Cell{Text: printable.String(f.Path)}, columns.Cell{Text: printable.String(f.Text)})
	}
	return table.Flush()
}

// A wrong clock only makes ages wrong.
const tolerableOffset = time.Second

// clock is the JSON of a comparison of clocks.
type clock struct {
	Type string `json:"type"` // "clock"

	// Offset is how far the server's clock is ahead, give or take Uncertainty.
	Offset      *view.Seconds `json:"offset_seconds,omitempty"`
	Uncertainty *view.Seconds `json:"uncertainty_seconds,omitempty"`
	Error       string        `json:"error,omitempty"` // why the offset is not known
}

// time compares the clocks, which needs the right to create nodes.
func (d *doctor) time(ctx context.Context, c *framework.Client) error {
	offset, half, err := clockOffset(ctx, c)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return d.fact("clock", "not compared: "+err.Error(), clock{Type: "clock", Error: err.Error()})
	}
	if offset.Abs() > tolerableOffset+half {
		d.find(finding{What: "clocks differ", Text: fmt.Sprintf("ages are wrong by %v", offset.Round(time.Millisecond))})
	}
	o, u := view.SecondsOf(offset), view.SecondsOf(half)
	text := fmt.Sprintf("the server is %v ahead, give or take %v",
		offset.Round(time.Millisecond), half.Round(time.Millisecond))
	if offset < 0 {
		text = fmt.Sprintf("the server is %v behind, give or take %v",
			-offset.Round(time.Millisecond), half.Round(time.Millisecond))
	}
	return d.fact("clock", text, clock{Type: "clock", Offset: &o, Uncertainty: &u})
}

// clockOffset returns how far the server's clock is ahead of this machine's, give or
// take half the time of a round trip. The only way to read the server's time is to
// create a node.
func clockOffset(ctx context.Context, c *framework.Client) (offset, half time.Duration, err error) {
	begin := time.Now()
	n, err := c.Create(ctx, "/zklock-doctor-", nil, framework.WithMode(framework.EphemeralSequential),
		framework.WithProtection())
	end := time.Now()
	if err != nil {
		return 0, 0, err
	}
	defer c.Delete(context.WithoutCancel(ctx), n.Path, framework.AnyVersion, framework.WithGuarantee())
	_, stat, err := c.Exists(ctx, n.Path)
	if err != nil || stat == nil {
		return 0, 0, err
	}
	half = end.Sub(begin)/2 + time.Millisecond // the server rounds down
	return time.UnixMilli(stat.Ctime).Sub(begin.Add(end.Sub(begin) / 2)), half, nil
}
