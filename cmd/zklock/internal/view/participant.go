package view

import (
	"strconv"
	"time"

	"github.com/gocurator/curator/cmd/zklock/internal/columns"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/inspect"
)

// Participant is the JSON of a participant.
type Participant struct {
	Role     string `json:"role"` // "holder" or "waiter"
	Position int    `json:"position"`
	Mode     string `json:"mode,omitempty"` // "exclusive" or "shared", for a read/write lock

	Node    string     `json:"node"`
	Token   int64      `json:"fencing_token"` // the czxid of the node
	Session string     `json:"session_id"`    // 0x0 if the node is not ephemeral
	Own     bool       `json:"own,omitempty"` // the node belongs to the user's own session
	Since   *time.Time `json:"since,omitempty"`
	Age     *Seconds   `json:"age_seconds,omitempty"` // time since the node was created

	KeptUntil  *time.Time `json:"kept_until,omitempty"` // the lock was released, but the node is kept until then
	Revoked    bool       `json:"revoked,omitempty"`
	Unsure     bool       `json:"unsure,omitempty"`
	Unreadable bool       `json:"unreadable,omitempty"`

	ID           string            `json:"id"`
	Service      string            `json:"service,omitempty"`
	Host         string            `json:"host,omitempty"`
	PID          int               `json:"pid,omitempty"`
	WaitingSince *time.Time        `json:"waiting_since,omitempty"` // by the owner's clock
	Trace        map[string]string `json:"trace,omitempty"`
}

// Roles of participants.
const (
	Holder = "holder"
	Waiter = "waiter"
)

// WithParticipants returns the JSON of a recipe and its participants.
func (v View) WithParticipants(r inspect.Recipe) Lock {
	l := v.Lock(r)
	for _, p := range r.Holders {
		l.Participants = append(l.Participants, v.Participant(r.Kind, p, Holder))
	}
	for _, p := range r.Waiters {
		l.Participants = append(l.Participants, v.Participant(r.Kind, p, Waiter))
	}
	return l
}

// Participant returns the JSON of a participant.
func (v View) Participant(kind inspect.Kind, p inspect.Participant, role string) Participant {
	out := Participant{
		Role: role, Position: p.Position, Mode: modeOf(kind, p),
		Node: p.Path, Token: p.Czxid, Session: Session(p.Session), Own: v.isOwn(p), Age: v.age(p.Since),
		Revoked: p.Revoked, Unsure: p.Unsure, Unreadable: p.Unreadable,
		ID: p.ID, Service: p.Service, Host: p.Host, PID: p.PID, Trace: p.Trace,
	}
	if !p.Since.IsZero() {
		out.Since = &p.Since
	}
	if !p.Waiting.IsZero() {
		out.WaitingSince = &p.Waiting
	}
	if !p.KeptUntil.IsZero() {
		out.KeptUntil = &p.KeptUntil
	}
	return out
}

func modeOf(kind inspect.Kind, p inspect.Participant) string {
	switch {
	case kind != inspect.ReadWriteLock:
		return ""
	case p.Reader:
		return "shared"
	default:
		return "exclusive"
	}
}

func (v View) isOwn(p inspect.Participant) bool { return v.Own != 0 && p.Session == v.Own }

// ParticipantHeader returns the names of the columns of ParticipantRows.
func (v View) ParticipantHeader() []string {
	return []string{"#", "HOLDER", "PID", "SERVICE", "SINCE", "WAITED", "SESSION", "CZXID", "NODE"}
}

// ParticipantRows returns the rows of a recipe's participants: the holders, marked with
// "*", and then the waiters with their turns. Readers that will enter together share a
// turn, and so do the nodes of one waiter at a semaphore.
func (v View) ParticipantRows(r inspect.Recipe) (rows [][]columns.Cell) {
	for _, p := range r.Holders {
		rows = append(rows, v.participantRow(r, p, "*"))
	}
	turn := 0
	for i, p := range r.Waiters {
		if i == 0 || !shareTurn(r.Kind, r.Waiters[i-1], p) {
			turn++
		}
		row := v.participantRow(r, p, strconv.Itoa(turn))
		row[5].Text = v.ageText(p.Since)
		rows = append(rows, row)
	}
	return rows
}

func shareTurn(kind inspect.Kind, ahead, p inspect.Participant) bool {
	if kind == inspect.Semaphore {
		return p.Session != 0 && p.Session == ahead.Session
	}
	return p.Reader && ahead.Reader
}

func (v View) participantRow(r inspect.Recipe, p inspect.Participant, mark string) []columns.Cell {
	if p.Unsure {
		mark += "?"
	}
	if r.Kind == inspect.ReadWriteLock {
		mark += map[bool]string{true: " read", false: " write"}[p.Reader]
	}
	row := []columns.Cell{
		{Text: mark}, v.hostCell(p), {Text: pidText(p)}, {Text: v.name(p.Service)}, {Text: v.clock(p.Since)},
		{}, v.sessionCell(p), {Text: czxidText(p.Czxid)}, {Text: printable.String(p.Path)},
	}
	if mark[0] == '*' {
		row[0].Style = columns.Good
		if row[1].Style == columns.Plain {
			row[1].Style = columns.Good
		}
	}
	return row
}

func (v View) hostCell(p inspect.Participant) columns.Cell {
	cell := columns.Cell{Text: v.name(p.Host)}
	if !isNamed(p) {
		cell = columns.Cell{Text: v.owner(p), Style: columns.Faint}
	}
	return v.remark(cell, p)
}

// remark adds remarks to the name of a participant.
func (v View) remark(cell columns.Cell, p inspect.Participant) columns.Cell {
	switch {
	case p.Revoked:
		cell.Text, cell.Style = cell.Text+" (revoked)", columns.Warn
	case !p.KeptUntil.IsZero():
		cell.Text += " (released, kept until " + v.clock(p.KeptUntil) + ")"
	}
	return cell
}

func pidText(p inspect.Participant) string {
	if p.PID == 0 {
		return ""
	}
	return strconv.Itoa(p.PID)
}

// sessionCell shows a session, and whether the session is the user's own. A node
// without a session stays when its owner ends.
func (v View) sessionCell(p inspect.Participant) columns.Cell {
	switch {
	case p.Session == 0 && p.Unreadable:
		return columns.Cell{}
	case p.Session == 0:
		return columns.Cell{Text: "none", Style: columns.Warn}
	case v.isOwn(p):
		return columns.Cell{Text: Session(p.Session) + " (own)", Style: columns.Header}
	default:
		return columns.Cell{Text: Session(p.Session)}
	}
}

// czxidText shows the id of a transaction as ZooKeeper's own tools do.
func czxidText(czxid int64) string {
	if czxid == 0 {
		return "" // the node may not be read
	}
	return "0x" + strconv.FormatInt(czxid, 16)
}

// Facts returns everything known about a participant, as rows of a name and a text.
func (v View) Facts(s Sighting) [][]columns.Cell {
	role := Waiter
	if s.Holds {
		role = Holder
	}
	facts := [][2]string{
		{"node", printable.String(s.Path)}, {"czxid", czxidText(s.Czxid)}, {"session", v.sessionCell(s.Participant).Text},
		{role, printable.String(s.String())}, {"since", v.clock(s.Since) + " (" + v.ageText(s.Since) + ")"},
	}
	if s.Holds && len(s.Recipe.Waiters) > 0 {
		facts = append(facts, [2]string{"next", printable.String(s.Recipe.Waiters[0].String())})
	}
	rows := make([][]columns.Cell, len(facts))
	for i, f := range facts {
		rows[i] = []columns.Cell{{Text: f[0], Style: columns.Faint}, {Text: f[1]}}
	}
	return rows
}
