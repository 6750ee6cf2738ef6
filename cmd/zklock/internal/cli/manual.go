package cli

import (
	"flag"
	"fmt"
	"strings"
)

func (p *Program[E]) manCommand() *Command[E] {
	return &Command[E]{
		Name:    "man",
		Purpose: "print the manual page",
		Long: fmt.Sprintf(`
  %[1]s man | man -l -
  %[1]s man > /usr/local/share/man/man1/%[1]s.1
`, p.Name),
		Define: func(fs *flag.FlagSet) Action[E] {
			fs.Bool("markdown", false, "in Markdown, with the help of each command")
			return nil
		},
		text: func(fs *flag.FlagSet, _ []string) (string, error) {
			if fs.Lookup("markdown").Value.String() == "true" {
				return p.markdownPage(), nil
			}
			return p.manPage(), nil
		},
	}
}

// markdownPage has the help of each command under a heading.
func (p *Program[E]) markdownPage() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Commands of %s\n\nMade by `go generate` from the texts that `%[1]s help` shows.\n\n", p.Name)
	b.WriteString("```\n" + p.overview() + "```\n")
	for _, c := range p.all() {
		fmt.Fprintf(&b, "\n## %s\n\n```\n%s```\n", c.Name, p.help(c))
	}
	for _, s := range p.Sections {
		fmt.Fprintf(&b, "\n## %s\n\n%s", s.Title, s.Text)
	}
	return b.String()
}

// manPage returns the manual page, in the language of man(7).
func (p *Program[E]) manPage() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n", strings.ToUpper(p.Name), p.Name, roff(p.Purpose))
	for i, c := range p.all() {
		if i > 0 {
			b.WriteString(".br\n")
		}
		fmt.Fprintf(&b, ".B %s %s\n%s\n", p.Name, c.Name, roff(c.Usage))
	}
	b.WriteString(".SH COMMANDS\n")
	for _, c := range p.all() {
		fmt.Fprintf(&b, ".SS %s\n%s.\n", roff(p.usage(c)), roff(upperFirst(c.Purpose)))
		roffText(&b, c.Long)
		roffFlags(&b, c.ownFlags())
	}
	b.WriteString(".SH COMMON FLAGS\n")
	roffFlags(&b, p.commonFlags())
	for _, s := range p.Sections {
		b.WriteString(".SH " + strings.ToUpper(s.Title) + "\n" + roff(s.Text))
	}
	b.WriteString(".SH EXIT STATUS\n.nf\n" + roff(strings.TrimSpace(p.Status)) + "\n.fi\n")
	return b.String()
}

// roffText writes paragraphs. Indented ones stay as they are.
func roffText(b *strings.Builder, text string) {
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		switch {
		case paragraph == "":
		case strings.HasPrefix(paragraph, " "):
			b.WriteString(".PP\n.nf\n" + roff(paragraph) + "\n.fi\n")
		default:
			b.WriteString(".PP\n" + roff(paragraph) + "\n")
		}
	}
}

func roffFlags(b *strings.Builder, flags []*flagDoc) {
	for _, d := range flags {
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(d.spelling()), roff(d.usage))
	}
}

// roff escapes what is special in man(7): backslashes, hyphens, and dots and
// quotes that begin a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
