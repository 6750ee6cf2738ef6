package cli

import (
	"flag"
	"fmt"
	"slices"
	"strings"
)

// all returns the commands of a program, including the built-in ones.
func (p *Program[E]) all() []*Command[E] {
	return append(slices.Clone(p.Commands), p.helpCommand(), p.completionCommand(), p.versionCommand())
}

func (p *Program[E]) helpCommand() *Command[E] {
	return &Command[E]{
		Name:    "help",
		Purpose: "explain a command",
		Usage:   "[COMMAND]",
		MaxArgs: 1,
		text: func(_ *flag.FlagSet, operands []string) (string, error) {
			if len(operands) == 0 {
				return p.overview(), nil
			}
			c, err := p.find(operands[0])
			if err != nil {
				return "", err
			}
			return p.help(c), nil
		},
	}
}

func (p *Program[E]) versionCommand() *Command[E] {
	return &Command[E]{
		Name:    "version",
		Purpose: "print the version",
		Long:    fmt.Sprintf("\n\"%s --version\" does the same.\n", p.Name),
		text:    func(*flag.FlagSet, []string) (string, error) { return p.version(), nil },
	}
}

// version is the output of the version command and --version.
func (p *Program[E]) version() string { return p.Name + " " + moduleVersion() + "\n" }

// overview has the commands and the common flags.
func (p *Program[E]) overview() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s COMMAND [flags] [arguments]\n\n%s.\n\nCommands:\n", p.Name, upperFirst(p.Purpose))
	for _, c := range p.all() {
		fmt.Fprintf(&b, "  %-10s %s\n", c.Name, c.Purpose)
	}
	b.WriteString("\nCommon flags:\n")
	writeFlags(&b, p.commonFlags())
	writeFlags(&b, []*flagDoc{{names: []string{"--version"}, usage: "print the version"}})
	b.WriteString("\n" + p.Status)
	return b.String()
}

// usage is the form of a command line.
func (p *Program[E]) usage(c *Command[E]) string {
	return strings.TrimSpace(p.Name + " " + c.Name + " " + c.Usage)
}

// help is the complete help of a command.
func (p *Program[E]) help(c *Command[E]) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s\n\n%s.\n", p.usage(c), upperFirst(c.Purpose))
	if c.Long != "" {
		b.WriteString("\n" + strings.Trim(c.Long, "\n") + "\n")
	}
	if docs := c.ownFlags(); len(docs) > 0 {
		b.WriteString("\nFlags:\n")
		writeFlags(&b, docs)
	}
	fmt.Fprintf(&b, "\nThe common flags are in: %s help\n", p.Name)
	return b.String()
}

// writeFlags writes one flag a line, or two if it is long.
func writeFlags(b *strings.Builder, docs []*flagDoc) {
	const column = 30
	for _, d := range docs {
		spelling := "  " + d.spelling()
		if strings.HasPrefix(spelling, "  --") {
			spelling = "    " + spelling // aligned with the long names of other flags
		}
		if len(spelling) > column-2 {
			b.WriteString(spelling + "\n")
			spelling = ""
		}
		for _, line := range wrap(d.usage, 80-column) {
			fmt.Fprintf(b, "%-*s%s\n", column, spelling, line)
			spelling = ""
		}
	}
}

// wrap breaks a text into lines of at most width columns, between words.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
