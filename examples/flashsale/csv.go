package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gocurator/curator/framework"
)

// table describes a CSV file. The file's first line names its columns, in any
// order.
type table struct {
	file     string // for messages
	required []string
	optional []string
}

// read calls each for every line after the header until each returns an error.
// A table without lines is an error.
func (t table) read(in io.Reader, each func(row) error) error {
	r := row{table: t, reader: csv.NewReader(withoutBOM(in))}
	r.reader.TrimLeadingSpace = true
	if err := r.readHeader(); err != nil {
		return err
	}
	for lines := 0; ; lines++ {
		fields, err := r.reader.Read()
		switch {
		case err == io.EOF && lines == 0:
			return fmt.Errorf("%s: no lines below the header", t.file)
		case err == io.EOF:
			return nil
		case err != nil:
			return t.wrapParseError(err)
		}
		r.fields = fields
		if err := each(r); err != nil {
			return err
		}
	}
}

// withoutBOM removes the byte order mark that spreadsheets put before the first
// column's name.
func withoutBOM(in io.Reader) io.Reader {
	b := bufio.NewReader(in)
	bom := []byte("\ufeff")
	if start, _ := b.Peek(len(bom)); bytes.Equal(start, bom) {
		b.Discard(len(bom))
	}
	return b
}

// wrapParseError gives an error of package csv the format of our own errors.
func (t table) wrapParseError(err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		return fmt.Errorf("%s:%d:%d: %w", t.file, p.Line, p.Column, p.Err)
	}
	return fmt.Errorf("%s: %w", t.file, err)
}

// row is a line of a table. It is valid until the next line is read.
type row struct {
	table   table
	reader  *csv.Reader
	columns []string
	fields  []string
}

func (r *row) readHeader() error {
	header, err := r.reader.Read()
	if err == io.EOF {
		columns := strings.Join(r.table.required, ",")
		return fmt.Errorf("%s:1:1: empty file; the first line must name the columns %s",
			r.table.file, columns)
	}
	if err != nil {
		return r.table.wrapParseError(err)
	}
	for i, name := range header {
		header[i] = strings.TrimSpace(name)
	}
	r.columns, r.fields = header, header
	for i, name := range header {
		known := slices.Contains(r.table.required, name) || slices.Contains(r.table.optional, name)
		switch {
		case !known:
			return r.fault(i, fmt.Sprintf("unknown column %q", name))
		case slices.Index(header, name) < i:
			return r.fault(i, fmt.Sprintf("column %q twice", name))
		}
	}
	for _, name := range r.table.required {
		if !slices.Contains(header, name) {
			return r.fault(0, fmt.Sprintf("column %q is missing", name))
		}
	}
	return nil
}

// fault returns an error at a field of the line.
func (r *row) fault(field int, text string) error {
	line, column := r.reader.FieldPos(field)
	return fmt.Errorf("%s:%d:%d: %s", r.table.file, line, column, text)
}

// invalid returns an error about the value in a column.
func (r *row) invalid(column, reason string) error {
	return r.fault(slices.Index(r.columns, column), fmt.Sprintf("%s %q: %s", column, r.text(column), reason))
}

// text returns the value in a column, or "" if the table does not have it.
func (r *row) text(column string) string {
	i := slices.Index(r.columns, column)
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(r.fields[i])
}

// name returns the value in a column, which must be valid as the name of a
// node.
func (r *row) name(column string) (string, error) {
	const maxLength = 64
	name := r.text(column)
	switch {
	case name == "":
		return "", r.invalid(column, "must not be empty")
	case len(name) > maxLength:
		return "", r.invalid(column, fmt.Sprintf("must not be longer than %d bytes", maxLength))
	case strings.Contains(name, "/") || framework.ValidatePath("/"+name) != nil:
		return "", r.invalid(column, "must be valid as the name of a znode")
	}
	return name, nil
}

// number returns the number in a column.
func (r *row) number(column string, least int) (int, error) {
	const most = 1_000_000_000 // keeps sums far from overflow
	n, err := strconv.Atoi(r.text(column))
	if err != nil || n < least || n > most {
		return 0, r.invalid(column, fmt.Sprintf("must be a whole number from %d to %d", least, most))
	}
	return n, nil
}
