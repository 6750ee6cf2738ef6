package cli

import (
	"flag"
	"slices"
	"strings"
)

// flagDoc describes one flag, with all its names.
type flagDoc struct {
	names []string // dashes included, the shortest first
	value string   // the name of its value in capitals, or empty for a switch
	usage string
}

// flagDocs returns the flags of a set. Names that share a value, which is a
// pointer, are one flag.
func flagDocs(fs *flag.FlagSet) []*flagDoc {
	var docs []*flagDoc
	index := map[flag.Value]*flagDoc{}
	fs.VisitAll(func(f *flag.Flag) {
		d := index[f.Value]
		if d == nil {
			d = docOf(f)
			docs = append(docs, d)
			index[f.Value] = d
		}
		d.names = append(d.names, dashed(f.Name))
	})
	for _, d := range docs {
		slices.SortFunc(d.names, func(a, b string) int { return len(a) - len(b) })
	}
	slices.SortFunc(docs, func(a, b *flagDoc) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	return docs
}

// docOf returns the description of a flag, without its names.
func docOf(f *flag.Flag) *flagDoc {
	value, usage := flag.UnquoteUsage(f)
	if isSwitch(f) {
		value = ""
	}
	switch f.DefValue {
	case "", "false", "0", "0s", "-1ns":
	default:
		usage += " (default " + f.DefValue + ")"
	}
	return &flagDoc{value: strings.ToUpper(value), usage: usage}
}

// sortKey sorts a flag by its first name, ignoring case.
func (d *flagDoc) sortKey() string { return strings.ToLower(strings.TrimLeft(d.names[0], "-")) }

// spelling returns the names, and the value.
func (d *flagDoc) spelling() string {
	return strings.TrimSpace(strings.Join(d.names, ", ") + " " + d.value)
}

// ownFlags returns the flags of a command.
func (c *Command[E]) ownFlags() []*flagDoc {
	return flagDocs(newFlagSet(func(fs *flag.FlagSet) { c.define(fs) }))
}

// commonFlags returns the flags of all commands.
func (p *Program[E]) commonFlags() []*flagDoc { return flagDocs(p.root) }
