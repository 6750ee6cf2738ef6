package columns

// Style says how a terminal shows a cell. Elsewhere it changes nothing.
type Style string

// The styles. Colours mean the same in all tables.
const (
	Plain  Style = ""
	Header Style = "1"  // bold
	Good   Style = "32" // green: it holds
	Warn   Style = "33" // yellow: somebody should look at it
	Bad    Style = "31" // red: it will not get better by itself
	Faint  Style = "2"  // beside the point
)

// Paint returns the text as a terminal shows it in this style.
func (s Style) Paint(text string) string {
	if s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
