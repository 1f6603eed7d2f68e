package balancer

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// job is what these tests read of one.
type job struct {
	ID       string
	State    string
	Attempts []struct{ ID string }
}

// jobsAt lists all jobs there are, whoever they belong to.
func jobsAt(t *testing.T, url string) []string {
	t.Helper()
	var ids []string
	for after := ""; ; {
		var page struct {
			Data       []job
			HasMore    bool   `json:"has_more"`
			NextCursor string `json:"next_cursor"`
		}
		read(t, url+"/v1/jobs?limit=100&after="+after, &page)
		for _, j := range page.Data {
			ids = append(ids, j.ID)
		}
		if !page.HasMore {
			return ids
		}
		after = page.NextCursor
	}
}

// endedJob is the job once it has ended.
func endedJob(t *testing.T, url, id string) job {
	t.Helper()
	var j job
	eventually(t, "job "+id+" ends", func(context.Context) bool {
		read(t, url+"/v1/jobs/"+id, &j)
		return j.State == "succeeded" || j.State == "failed" || j.State == "cancelled"
	})
	return j
}

func read(t *testing.T, url string, into any) {
	t.Helper()
	response, body := send(t, http.MethodGet, url, "", "Authorization", "Bearer dev-operator-key")
	require.Equal(t, http.StatusOK, response.StatusCode, body)
	require.NoError(t, json.Unmarshal([]byte(body), into))
}
