package view

import (
	"encoding/json"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/inspect"
)

// Instance is the JSON of a node of a registry.
type Instance struct {
	Service string             `json:"service"`
	ID      string             `json:"id"`
	Node    string             `json:"node"`
	Since   *time.Time         `json:"since,omitempty"`
	Age     *Seconds           `json:"age_seconds,omitempty"` // time since the node was created
	Session *inspect.SessionID `json:"session_id,omitempty"`  // 0x0 if the node is not ephemeral

	Address    string            `json:"address,omitempty"`
	Port       int               `json:"port,omitempty"`
	TLSPort    int               `json:"tls_port,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	Payload    json.RawMessage   `json:"payload,omitempty"`
	Disabled   bool              `json:"disabled,omitempty"`
	Registered *time.Time        `json:"registered,omitempty"` // a time of the instance's clock, if it has a form in JSON

	SameAs  string `json:"same_as,omitempty"` // another instance with the same address and ports
	Problem string `json:"problem,omitempty"` // why it is no instance
}

// Instance returns the JSON of a node of a registry.
func (v View) Instance(r inspect.Instance) Instance {
	i := Instance{
		Service: r.Service, ID: r.ID, Node: r.Path, Age: v.age(r.Since),
		Address: r.Address, Port: r.Port, TLSPort: r.TLSPort,
		Metadata: r.Metadata, Payload: r.Payload, Disabled: r.Disabled, SameAs: r.SameAs, Problem: r.Problem,
	}
	if !r.Since.IsZero() {
		i.Since, i.Session = &r.Since, &r.Session
	}
	if at := r.Registered; !at.IsZero() && at.Year() >= 0 && at.Year() <= 9999 { // JSON has no other years
		i.Registered = &at
	}
	return i
}

// InstanceHeader returns the names of the columns of InstanceRow.
func (v View) InstanceHeader() []string {
	return []string{"SERVICE", "ID", "ADDRESS", "STATE", "SINCE", "AGE", "SESSION"}
}

// InstanceRow returns the row of a node of a registry.
func (v View) InstanceRow(r inspect.Instance) []columns.Cell {
	row := []columns.Cell{
		{Text: v.name(r.Service)}, {Text: v.name(r.ID)}, {Text: v.name(r.HostPort())}, v.stateCell(r),
		{Text: v.clock(r.Since)}, {Text: v.ageText(r.Since)}, {},
	}
	if !r.Since.IsZero() {
		row[6] = v.sessionCell(inspect.Participant{Session: r.Session})
	}
	return row
}

// stateCell shows whether an instance wants to be picked.
func (v View) stateCell(r inspect.Instance) columns.Cell {
	switch {
	case r.Problem != "":
		return columns.Cell{Text: v.name(r.Problem), Style: columns.Bad}
	case r.Disabled:
		return columns.Cell{Text: "disabled" + as(r.SameAs), Style: columns.Warn}
	case r.SameAs != "":
		return columns.Cell{Text: "up" + as(r.SameAs), Style: columns.Warn}
	}
	return columns.Cell{Text: "up", Style: columns.Good}
}

// as names the instance that has the same address and ports, if there is one.
func as(id string) string {
	if id == "" {
		return ""
	}
	return ", as " + printable.String(id)
}
