package explore

import (
	"fmt"
	"regexp"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// randomName matches the identifiers that recipes draw at random, and that must not
// make two runs look different: UUIDs, and texts of rand.Text in crypto/rand.
var randomName = regexp.MustCompile(
	`[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|[A-Z2-7]{26}|[a-z2-7]{26}`)

// canonical returns a text without its random parts.
func canonical(text string) string { return randomName.ReplaceAllString(text, "*") }

// describe names a message.
func describe(who string, m *zkinside.Message) string {
	request := requestOf(m)
	path := canonical(request.Path)
	switch {
	case m.Event != "":
		return fmt.Sprintf("%s receives %s %s", who, m.Event, path)
	case m.Answer && request.Err != 0:
		return fmt.Sprintf("%s has its answer to %v %s: %v", who, request.Op, path, request.Err)
	case m.Answer:
		return fmt.Sprintf("%s has its answer to %v %s", who, request.Op, path)
	default:
		return fmt.Sprintf("%s's %v %s arrives", who, request.Op, path)
	}
}

// requestOf returns the request that a message is, or is about.
func requestOf(m *zkinside.Message) zktest.Request { return m.Request.(zktest.Request) }

// isRequest reports whether a message goes to a server.
func isRequest(m *zkinside.Message) bool { return !m.Answer && m.Event == "" }
