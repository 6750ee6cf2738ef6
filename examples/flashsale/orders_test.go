package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadStock(t *testing.T) {
	tests := []struct {
		name, in string
		want     []article
		err      string
	}{
		{"plain", "article,units\nsneaker,100\njacket,0\n", []article{{"sneaker", 100}, {"jacket", 0}}, ""},
		{"columns in any order, spaces, no last newline", "units, article\n 7 , blue cap", []article{{"blue cap", 7}}, ""},
		{"as a spreadsheet saves it", "\ufeffarticle,units\r\n\"a,b\",1\r\n", []article{{"a,b", 1}}, ""},
		{"empty", "", nil, "s.csv:1:1: empty file"},
		{"header only", "article,units\n", nil, "s.csv: no lines below the header"},
		{"missing column", "article\nsneaker\n", nil, `s.csv:1:1: column "units" is missing`},
		{"unknown column", "article,unit\n", nil, `s.csv:1:9: unknown column "unit"`},
		{"column twice", "article,units,units\n", nil, `s.csv:1:15: column "units" twice`},
		{"too few fields", "article,units\nsneaker\n", nil, "s.csv:2:1: wrong number of fields"},
		{"bad quotes", "article,units\nx,\"1\n", nil, "s.csv:2:6: extraneous"},
		{"negative", "article,units\nsneaker,-1\n", nil, `s.csv:2:9: units "-1": must be a whole number from 0 to`},
		{"no number", "article,units\na,1\nb,many\n", nil, `s.csv:3:3: units "many"`},
		{"fraction", "article,units\na,1.5\n", nil, `s.csv:2:3: units "1.5"`},
		{"too large", "article,units\na,99999999999999999999\n", nil, "s.csv:2:3: units"},
		{"no name", "article,units\n,1\n", nil, `s.csv:2:1: article "": must not be empty`},
		{"no node name", "article,units\na/b,1\n", nil, `s.csv:2:1: article "a/b": must be valid as the name of a znode`},
		{"dots", "article,units\n..,1\n", nil, `s.csv:2:1: article "..": must be valid`},
		{"long name", "article,units\n" + strings.Repeat("x", 65) + ",1\n", nil, "must not be longer"},
		{"twice", "article,units\na,1\na,2\n", nil, `s.csv:3:1: article "a": listed twice`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readStock("s.csv", strings.NewReader(tt.in))
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestReadOrders(t *testing.T) {
	const header = "order,article,quantity,worker\n"
	tests := []struct {
		name, in string
		want     []order
		err      string
	}{
		{"plain", header + "1,sneaker,2,oslo\n2,sneaker,1,\n", []order{{"1", "sneaker", 2, "oslo"}, {"2", "sneaker", 1, ""}}, ""},
		{"without workers", "order,article,quantity\n1,sneaker,2\n", []order{{"1", "sneaker", 2, ""}}, ""},
		{"missing column", "order,article,worker\n", nil, `o.csv:1:1: column "quantity" is missing`},
		{"zero", header + "1,sneaker,0,\n", nil, `o.csv:2:11: quantity "0": must be a whole number from 1 to`},
		{"negative", header + "1,sneaker,-5,\n", nil, `o.csv:2:11: quantity "-5"`},
		{"no number", header + "1,sneaker,x,\n", nil, `o.csv:2:11: quantity "x"`},
		{"unknown article", header + "1,boot,1,\n", nil, `o.csv:2:3: article "boot": not in the stock file`},
		{"duplicate", header + "1,sneaker,1,\n2,sneaker,1,\n1,sneaker,1,\n", nil, `o.csv:4:1: order "1": listed twice`},
		{"bad worker", header + "1,sneaker,1,a/b\n", nil, `o.csv:2:13: worker "a/b"`},
		{"too many", header + manyOrders(maxOrders+1), nil, "there may be 2000 orders"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readOrders("o.csv", strings.NewReader(tt.in), []article{{"sneaker", 1}})
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func manyOrders(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,sneaker,1,\n", i)
	}
	return b.String()
}
