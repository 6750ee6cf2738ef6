package columns

// Style is the look of a cell on a terminal. On other outputs it has no effect.
type Style string

// The styles. Colours mean the same in all tables.
const (
	Plain  Style = ""
	Header Style = "1"  // bold
	Good   Style = "32" // green: holds
	Warn   Style = "33" // yellow: needs attention
	Bad    Style = "31" // red: will not recover by itself
	Faint  Style = "2"  // unimportant
)

// Paint returns the text with the terminal's escape sequences for this style.
func (s Style) Paint(text string) string {
	if s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
