package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
)

//go:generate sh -c "go run . man --markdown > COMMANDS.md"

// manCommand is initialised late because it lists the table that it is in.
var manCommand = &command{
	name:    "man",
	purpose: "print the manual page",
	long: `
  zklock man | man -l -
  zklock man > /usr/local/share/man/man1/zklock.1
`,
}

func init() {
	manCommand.define = func(fs *flag.FlagSet) action {
		markdown := fs.Bool("markdown", false, "in Markdown, with the help of each command")
		return func(_ context.Context, e *env) error {
			text := manPage()
			if *markdown {
				var err error
				if text, err = markdownPage(); err != nil {
					return err
				}
			}
			_, err := io.WriteString(e.out, text)
			return err
		}
	}
}

// jsonHelp says what programs get.
const jsonHelp = `With -o json, the output is one object per line. Times are in RFC 3339. A
duration is a number of seconds, and its name ends with "_seconds". Names are
those of the attributes of spans, as far as there are any, without "curator."
and "curator.lock.", and with "_" for ".". Fields that do not apply are left
out, and new ones may come.
`

// markdownPage returns the help of each command under a heading.
func markdownPage() (string, error) {
	var b strings.Builder
	b.WriteString("# Commands of zklock\n\nMade by `go generate` from the texts that `zklock help` shows.\n\n```\n")
	if err := overview(&b); err != nil {
		return "", err
	}
	b.WriteString("```\n")
	for _, c := range builtIn() {
		fmt.Fprintf(&b, "\n## %s\n\n```\n", c.name)
		if err := c.help(&b); err != nil {
			return "", err
		}
		b.WriteString("```\n")
	}
	b.WriteString("\n## JSON\n\n" + jsonHelp)
	return b.String(), nil
}

// manPage returns the manual page, in the language of man(7).
func manPage() string {
	var b strings.Builder
	b.WriteString(".TH ZKLOCK 1\n.SH NAME\nzklock \\- locks of ZooKeeper for shells and operators\n.SH SYNOPSIS\n")
	for _, c := range builtIn() {
		fmt.Fprintf(&b, ".B zklock %s\n%s\n.br\n", c.name, roff(c.usage))
	}
	b.WriteString(".SH COMMANDS\n")
	for _, c := range builtIn() {
		fmt.Fprintf(&b, ".SS zklock %s %s\n%s.\n", c.name, roff(c.usage), roff(upperFirst(c.purpose)))
		roffText(&b, c.long)
		roffFlags(&b, c.ownFlags())
	}
	b.WriteString(".SH COMMON FLAGS\n")
	roffFlags(&b, commonFlags())
	b.WriteString(".SH JSON\n" + roff(jsonHelp))
	b.WriteString(".SH EXIT STATUS\n.nf\n" + roff(strings.TrimSpace(statusHelp)) + "\n.fi\n")
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

func roffFlags(b *strings.Builder, flags []flagDoc) {
	for _, f := range flags {
		usage := f.usage
		if f.defValue != "" {
			usage += " (default " + f.defValue + ")"
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(f.spelling())), roff(usage))
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
