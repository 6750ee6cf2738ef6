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
	Service string     `json:"service"`
	ID      string     `json:"id"`
	Node    string     `json:"node"`
	Since   *time.Time `json:"since,omitempty"`
	Age     *Seconds   `json:"age_seconds,omitempty"` // time since the node was created
	Session *string    `json:"session_id,omitempty"`  // 0x0 if the node is not ephemeral

	Address    string            `json:"address,omitempty"`
	Port       int               `json:"port,omitempty"`
	TLSPort    int               `json:"tls_port,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	Payload    json.RawMessage   `json:"payload,omitempty"`
	Disabled   bool              `json:"disabled,omitempty"`
	Registered *time.Time        `json:"registered,omitempty"` // by the instance's clock

	SameAs  string `json:"same_as,omitempty"` // another instance with the same address and ports
	Problem string `json:"problem,omitempty"` // why the node is not an instance
}

// Instance returns the JSON of a node of a registry. The other instance has the
// same address and ports; its ID is empty if there is none.
func (v View) Instance(p inspect.Participant, other string) Instance {
	r := p.Instance
	i := Instance{
		Service: r.Service, ID: r.ID, Node: p.Path, Age: v.age(p.Since),
		Address: r.Address, Port: r.Port, TLSPort: r.TLSPort,
		Metadata: r.Metadata, Payload: r.Payload, Disabled: r.Disabled, SameAs: other, Problem: problemOf(p),
	}
	if !p.Since.IsZero() {
		session := Session(p.Session)
		i.Since, i.Session = &p.Since, &session
	}
	if at := r.Registered; !at.IsZero() && at.Year() >= 0 && at.Year() <= 9999 { // JSON allows no other years
		i.Registered = &at
	}
	return i
}

// problemOf returns the reason why a node is not an instance, or an empty text if it is
// one.
func problemOf(p inspect.Participant) string {
	if p.Unreadable {
		return "may not be read"
	}
	return p.Problem
}

// InstanceHeader returns the names of the columns of InstanceRow.
func (v View) InstanceHeader() []string {
	return []string{"SERVICE", "ID", "ADDRESS", "STATE", "SINCE", "AGE", "SESSION"}
}

// InstanceRow returns the row of a node of a registry.
func (v View) InstanceRow(p inspect.Participant, other string) []columns.Cell {
	r := p.Instance
	row := []columns.Cell{
		{Text: v.name(r.Service)}, {Text: v.name(r.ID)}, {Text: v.name(r.HostPort())}, v.stateCell(p, other),
		{Text: v.clock(p.Since)}, {Text: v.ageText(p.Since)}, {},
	}
	if !p.Since.IsZero() {
		row[6] = v.sessionCell(p)
	}
	return row
}

// stateCell shows whether an instance accepts calls.
func (v View) stateCell(p inspect.Participant, other string) columns.Cell {
	problem := problemOf(p)
	switch {
	case problem != "":
		return columns.Cell{Text: v.name(problem), Style: columns.Bad}
	case p.Instance.Disabled:
		return columns.Cell{Text: "disabled" + as(other), Style: columns.Warn}
	case other != "":
		return columns.Cell{Text: "up" + as(other), Style: columns.Warn}
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
