package contracts

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Write prints what a verification found: every property, every assertion that
// failed with the answer that failed it, and what follows.
func (r *Report) Write(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "%s for %s, contract %s, %d calls\n\n", r.Provider, r.Route, r.Contract, r.Calls)
	_, _ = fmt.Fprintln(table, "PROPERTY\tPROVEN\tEVIDENCE")
	for _, p := range Properties() {
		_, _ = fmt.Fprintf(table, "%s\t%s\n", p, r.stated(p))
	}
	if len(r.Findings) > 0 {
		_, _ = fmt.Fprintln(table, "\nCALL\tASSERTION\tCLASS\tWHAT IS WRONG\tANSWER")
	}
	for _, f := range r.Findings {
		message := f.Message
		if f.Detail != "" {
			message += " (" + printable(f.Detail) + ")"
		}
		where := f.Assertion
		if f.Line > 0 {
			where = fmt.Sprintf("%s (line %d)", f.Assertion, f.Line)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", f.What, where, f.Reason, message, printable(f.Answer))
	}
	_, _ = fmt.Fprintf(table, "\n%s\n", r.conclusion())
	if err := table.Flush(); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func (r *Report) stated(p Property) string {
	said, evidence := "no", "not looked at"
	for _, proof := range r.Proofs {
		if proof.Property == p {
			evidence = proof.Evidence
			if proof.Proven {
				said = "yes"
			}
		}
	}
	if reason, exempt := r.exempt[p]; exempt {
		return "exempt\t" + reason
	}
	if !slices.Contains(r.required, p) {
		evidence += " (not required)"
	}
	return said + "\t" + evidence
}

func (r *Report) conclusion() string {
	switch {
	case r.Certificate != nil:
		return fmt.Sprintf("Certified until %s: %s.", r.Certificate.ExpiresAt.Format(time.RFC3339), r.Certificate.ID)
	case r.Inconclusive:
		return "Inconclusive: a call got no answer, so nothing is proven and nothing disproven. Run it again."
	}
	return "Not certified: nothing fails over to this provider by itself."
}

// printable is a text in one line, with what a terminal would obey made visible.
func printable(s string) string {
	quoted := fmt.Sprintf("%q", s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
